import Media
import PCM
import Platform

/// A track that was encoded as AAC, in segments of CMAF: the frames of an ADTS stream without their headers.
struct FragmentedAAC: SegmentedTrack {
    let track: CMAFTrack
    let segments: [SegmentTable.Segment]
    private let bytes: [UInt8]
    /// Of the frames' content in `bytes`.
    private let frames: [Range<Int>]
    private let framesPerSegment: Int

    private static let samplesPerFrame = 1024
    /// In seconds.
    private static let segmentDuration = 4
    /// Samples that ffmpeg's encoder puts before the first one.
    static let priming: Int64 = 1024

    /// - Parameters:
    ///   - bytes: of an ADTS stream (ISO/IEC 13818-7, 6.2), all of one kind.
    ///   - heardCount: samples of the original, at the rate of the stream.
    /// - Throws: `.damaged`.
    init(_ bytes: [UInt8], heardCount: Int64, encryption: ContentEncryption?) throws(MediaError) {
        self.bytes = bytes
        var frames: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            guard bytes.count - start >= 7, bytes[start] == 0xFF, bytes[start + 1] & 0xF6 == 0xF0 else {
                throw Self.damaged
            }
            let header = bytes[start + 1] & 1 == 0 ? 9 : 7
            let count =
                Int(bytes[start + 3] & 3) << 11 | Int(bytes[start + 4]) << 3 | Int(bytes[start + 5]) >> 5
            guard count > header, count <= bytes.count - start else { throw Self.damaged }
            frames.append((start + header)..<(start + count))
            start += count
        }
        let rates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000]
        guard !frames.isEmpty, Int(bytes[2] >> 2 & 15) < rates.count else { throw Self.damaged }
        self.frames = frames
        let rateIndex = bytes[2] >> 2 & 15
        let rate = rates[Int(rateIndex)]
        let channels = (bytes[2] & 1) << 2 | bytes[3] >> 6
        // AudioSpecificConfig: the kind of object, the rate, the channels.
        let object = (bytes[2] >> 6) + 1
        let configuration = [object << 3 | rateIndex >> 1, (rateIndex & 1) << 7 | channels << 3]
        framesPerSegment = max(1, rate * Self.segmentDuration / Self.samplesPerFrame)
        let duration = Int64(frames.count * Self.samplesPerFrame)
        let end = min(duration, Self.priming + heardCount)
        track = CMAFTrack(
            codec: .aac(configuration: configuration),
            format: PCMFormat(sampleRate: rate, channelCount: channels == 7 ? 8 : Int(channels), bitDepth: 16),
            duration: duration, edit: min(Self.priming, end)..<end, encryption: encryption)
        segments = stride(from: 0, to: frames.count, by: framesPerSegment).map { [framesPerSegment] first in
            let part = frames[first..<min(frames.count, first + framesPerSegment)]
            return SegmentTable.Segment(
                offset: 0, byteCount: Int64(part.reduce(0) { $0 + $1.count }),
                firstSample: Int64(first * Self.samplesPerFrame), sampleCount: Int64(part.count * Self.samplesPerFrame))
        }
    }

    private static var damaged: MediaError { .damaged(what: "AAC that was encoded") }

    func segment(_ number: Int) throws(MediaError) -> ContentBody? {
        guard number > 0, number <= segments.count else { return nil }
        let first = (number - 1) * framesPerSegment
        let part = frames[first..<min(frames.count, first + framesPerSegment)]
        let samples = part.map { CMAFTrack.Sample(byteCount: $0.count, duration: Self.samplesPerFrame) }
        var content: [UInt8] = []
        for frame in part { content += bytes[frame] }
        if let encryption = track.encryption { content = encryption.encrypted(content, samples.map(\.byteCount)) }
        return ContentBody(track.segmentHead(number, from: segments[number - 1].firstSample, samples) + content)
    }
}
