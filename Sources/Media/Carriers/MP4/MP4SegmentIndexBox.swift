extension SegmentIndex {
    /// - Returns: nil when it is cut off or not plausible.
    init?(_ box: MP4Box, of source: any ByteSource) throws(Interruption) {
        guard var fields = MP4Fields(try box.bytes(of: source, limit: 32)), fields.integer(UInt32.self) != nil,
            let timescale = fields.integer(UInt32.self), timescale > 0, let earliest = fields.time(),
            let gap = fields.time(), fields.integer(UInt16.self) != nil, let count = fields.integer(UInt16.self)
        else { return nil }
        // Offsets count from the first byte after the box, which has an end.
        guard box.end <= AudioLimits.largestData else { return nil }
        var offset = box.end + gap
        let first = box.content.lowerBound + (fields.version > 0 ? 32 : 24)
        var table = MP4Table(source, count: Int64(count), entrySize: 12, in: min(first, box.end)..<box.end)
        var parts: [Part] = []
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
        self.init(timescale: timescale, earliestTime: earliest, parts: parts)
    }
}
