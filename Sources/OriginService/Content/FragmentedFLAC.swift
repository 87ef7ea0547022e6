import HTTPServer
import Media
import PCM
import Platform

/// The unchanged frames of a FLAC file, in segments of CMAF.
struct FragmentedFLAC: SegmentedTrack {
    let table: SegmentTable
    let track: CMAFTrack
    private let file: OpenedFile

    init(_ table: SegmentTable, _ format: PCMFormat, of file: OpenedFile, encryption: ContentEncryption?) {
        self.table = table
        self.file = file
        track = CMAFTrack(
            codec: .flac(streamInfo: table.streamInfo), format: format, duration: table.sampleCount,
            encryption: encryption)
    }

    var segments: [SegmentTable.Segment] { table.segments }

    /// Returns a segment. Its frames are read from the file when they are sent, unless they are encrypted.
    func segment(_ number: Int) throws(MediaError) -> ContentBody? {
        guard number > 0, number <= table.segments.count else { return nil }
        let segment = table.segments[number - 1]
        var frames = try FLACFrames(file)
        frames.continueAt(offset: segment.offset, firstSample: segment.firstSample)
        var samples: [CMAFTrack.Sample] = []
        var end = segment.offset
        while end < segment.offset + segment.byteCount, let frame = try frames.next() {
            samples.append(.init(byteCount: frame.byteCount, duration: frame.sampleCount))
            end += Int64(frame.byteCount)
        }
        guard end == segment.offset + segment.byteCount else {
            throw .damaged(what: "FLAC whose frames have changed")
        }
        let head = track.segmentHead(number, from: segment.firstSample, samples)
        let content = ContentBody([.file(file, segment.offset..<end)])
        guard let encryption = track.encryption else { return ContentBody([.bytes(head)] + content.pieces) }
        do throws(SystemError) {
            return ContentBody(head + encryption.encrypted(try content.bytes(), samples.map(\.byteCount)))
        } catch {
            throw .source(.medium(error))
        }
    }
}
