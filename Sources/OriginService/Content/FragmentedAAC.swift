import HTTPServer
import Media
import PCM
import Platform

/// A track as AAC, in segments of CMAF: the frames of an ADTS stream without their headers. The stream may still be
/// encoded.
struct FragmentedAAC: SegmentedTrack {
    let track: CMAFTrack
    let segments: [SegmentTable.Segment]
    private let stream: ServedAAC
    private let encoded: EncodedTrack

    init(_ encoded: EncodedTrack, encryption: ContentEncryption?) {
        let stream = encoded.stream
        self.stream = stream
        self.encoded = encoded
        let samples = Int64(ServedAAC.samplesPerFrame)
        track = CMAFTrack(
            codec: .aac(configuration: stream.configuration),
            format: PCMFormat(sampleRate: stream.sampleRate, channelCount: stream.channelCount, bitDepth: 16),
            duration: Int64(stream.frameCount) * samples,
            edit: ServedAAC.priming..<(ServedAAC.priming + stream.heardCount), encryption: encryption)
        segments = (0..<stream.segmentCount).map { index in
            let duration = Int64(stream.frameCount(ofSegment: index + 1) ?? 0) * samples
            // The number of bytes is unknown before they are encoded: assume the bit rate.
            return SegmentTable.Segment(
                offset: 0, byteCount: duration * Int64(stream.bitRate) / 8 / Int64(stream.sampleRate),
                firstSample: Int64(index * stream.framesPerSegment) * samples, sampleCount: duration)
        }
    }

    /// Waits until the segment is encoded.
    /// - Returns: nil without such a segment, and when the track could not be encoded.
    func segment(_ number: Int) throws(MediaError) -> ContentBody? {
        guard let count = stream.frameCount(ofSegment: number), let bytes = try encoded.segment(number) else {
            return nil
        }
        var samples: [CMAFTrack.Sample] = []
        var content: [UInt8] = []
        content.reserveCapacity(bytes.count)
        func append(_ frame: ArraySlice<UInt8>) {
            content += frame
            samples.append(CMAFTrack.Sample(byteCount: frame.count, duration: ServedAAC.samplesPerFrame))
        }
        var start = 0
        while start < bytes.count, samples.count < count {
            guard let frame = ADTSFrame(bytes[start...]), frame.isOf(stream), frame.count <= bytes.count - start else {
                throw .damaged(what: "AAC that was encoded")
            }
            append(bytes[(start + frame.headerCount)..<(start + frame.count)])
            start += frame.count
        }
        // An encoder that resamples may end a few samples, and so a frame, too early.
        while samples.count < count { append(stream.silence[...]) }
        if let encryption = track.encryption { content = encryption.encrypted(content, samples.map(\.byteCount)) }
        return ContentBody(
            [.bytes(track.segmentHead(number, from: segments[number - 1].firstSample, samples)), .bytes(content)])
    }
}
