/// Finds fragments in the middle of a file, by their structure.
struct MP4FragmentProbe {
    let source: any ByteSource
    let track: MP4Track
    /// The length of the source.
    let length: Int64

    struct Finding {
        var point: MP4FragmentIndex.Point
        /// The size of the fragment with its data, in bytes.
        var size: Int64
    }

    /// The most bytes in which a fragment is searched. Few fragments are longer.
    static let mostScanned: Int64 = 2_097_152
    /// The most positions that look like a fragment and are none.
    private static let mostCandidates = 64
    private static let windowSize: Int64 = 16_384

    /// The fragment at an offset, if it contains its time, and its first sample is in the data after it.
    func fragment(at offset: Int64) throws(Interruption) -> Finding? {
        var boxes = MP4Boxes(source, from: offset, to: length)
        guard let box = try boxes.next(), box.type == "moof", !box.isCutShort else { return nil }
        var children = box.children(of: source)
        guard let header = try children.next(), header.type == "mfhd", let data = try boxes.next(), data.type == "mdat"
        else { return nil }
        // The time stays −1 when the fragment does not contain one.
        var fragments = MP4Fragments(source, track: track, from: offset, to: box.end, time: -1)
        guard let sample = try fragments.next(), sample.time >= 0, sample.offset >= data.content.lowerBound,
            sample.offset + sample.size <= data.end
        else { return nil }
        return Finding(point: .init(time: sample.time, offset: offset), size: data.end - offset)
    }

    /// The first fragment that begins at `offset` or after it.
    /// - Returns: nil when there is none before `end`, or none in the bytes that are looked at.
    func first(from offset: Int64, to end: Int64) throws(Interruption) -> Finding? {
        let limit = min(end, offset + Self.mostScanned)
        var position = offset
        var candidatesLeft = Self.mostCandidates
        while position < limit {
            let window = try SourceReader(source).bytes(Int(min(Self.windowSize, length - position)), at: position)
            guard window.count >= 8 else { return nil }
            for place in 0...(window.count - 8) where Self.isFragment(window, place) {
                if position + Int64(place) >= limit { return nil }
                if let found = try fragment(at: position + Int64(place)) { return found }
                candidatesLeft -= 1
                guard candidatesLeft > 0 else { return nil }
            }
            position += Int64(window.count - 7)
        }
        return nil
    }

    /// Whether the type of the box that would begin there is `moof`.
    private static func isFragment(_ bytes: [UInt8], _ place: Int) -> Bool {
        bytes[place + 4] == UInt8(ascii: "m") && bytes[place + 5] == UInt8(ascii: "o")
            && bytes[place + 6] == UInt8(ascii: "o") && bytes[place + 7] == UInt8(ascii: "f")
    }
}
