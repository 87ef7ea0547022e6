extension MP4FragmentIndex {
    /// The fragments that the end of a file lists (`mfra`; ISO/IEC 14496-12, 8.8.9 to 8.8.11). It is a claim: if no
    /// fragment begins at an entry, the list is wrong.
    /// - Parameter length: of the file.
    /// - Returns: nil when there is none, or none of the track.
    init?(
        atEndOf source: any ByteSource, length: Int64, track: UInt32, distance: Int64
    ) throws(Interruption) {
        self.init(distance: distance)
        guard length >= 16 else { return nil }
        var last = MP4Boxes(source, from: length - 16, to: length)
        guard let size = try last.next(), size.type == "mfro",
            var fields = MP4Fields(try size.bytes(of: source, limit: 8)), let claimed = fields.integer(UInt32.self),
            Int64(claimed) <= length
        else { return nil }
        var boxes = MP4Boxes(source, from: length - Int64(claimed), to: length)
        guard let box = try boxes.next(), box.type == "mfra", box.end == length else { return nil }
        var children = box.children(of: source)
        while points.isEmpty, let child = try children.next() {
            if child.type == "tfra" { try add(child, of: source, track: track, upTo: box.offset) }
        }
        guard !points.isEmpty else { return nil }
    }

    /// Adds the entries of a list, unless it is of another track.
    /// - Parameter end: fragments begin before it.
    private mutating func add(
        _ list: MP4Box, of source: any ByteSource, track: UInt32, upTo end: Int64
    ) throws(Interruption) {
        guard var fields = MP4Fields(try list.bytes(of: source, limit: 16)), fields.integer(UInt32.self) == track,
            let sizes = fields.integer(UInt32.self), let count = fields.integer(UInt32.self)
        else { return }
        let width = fields.version > 0 ? 8 : 4
        // The numbers of the track fragment, the run and the sample have one to four bytes each.
        let numbers = 3 + Int(sizes & 3) + Int(sizes >> 2 & 3) + Int(sizes >> 4 & 3)
        var table = MP4Table(
            source, count: Int64(count), entrySize: 2 * width + numbers,
            in: min(list.content.lowerBound + 16, list.end)..<list.end)
        for entry in 0..<table.count {
            guard let time = try table.field(entry, byteCount: width),
                let offset = try table.field(entry, at: width, byteCount: width),
                time <= UInt64(AudioLimits.largestTime),
                offset < UInt64(end)
            else { return }
            add(Point(time: Int64(time), offset: Int64(offset)))
        }
    }
}
