/// A segment index (`sidx`; ISO/IEC 14496-12, 8.16.3): the lengths and durations of the parts after it.
struct MP4SegmentIndex {
    /// Units per second of its times.
    let timescale: UInt32
    /// The media time of the first part.
    let earliestTime: Int64
    private(set) var parts: [Part] = []

    struct Part: Equatable {
        /// The range in the source, in bytes.
        var range: Range<Int64>
        /// The duration in units of the index.
        var duration: Int64
        /// Whether the part is another index, not media.
        var isIndex: Bool
    }

    private static let mostParts = 65_535

    /// - Returns: nil when it is cut off or not plausible.
    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 32)), fields.integer(UInt32.self) != nil,
            let timescale = fields.integer(UInt32.self), timescale > 0, let earliest = fields.time(),
            let gap = fields.time(), fields.integer(UInt16.self) != nil, let count = fields.integer(UInt16.self)
        else { return nil }
        self.timescale = timescale
        earliestTime = earliest
        // Offsets count from the first byte after the box, which has an end.
        guard box.end <= AudioLimits.largestData else { return nil }
        var offset = box.end + gap
        let first = box.content.lowerBound + (fields.version > 0 ? 32 : 24)
        var table = MP4Table(source, count: Int64(count), entrySize: 12, in: min(first, box.end)..<box.end)
        for index in 0..<table.count {
            guard let reference = try table.field(index), let duration = try table.field(index, at: 4),
                offset <= AudioLimits.largestData
            else { return nil }
            let size = Int64(reference & 0x7FFF_FFFF)
            parts.append(
                Part(
                    range: offset..<(offset + size), duration: Int64(duration),
                    isIndex: reference & 0x8000_0000 != 0))
            offset += size
        }
        guard parts.count == count else { return nil }
    }

    /// The duration in units of the index.
    var duration: Int64 { parts.reduce(0) { $0 + $1.duration } }
}
