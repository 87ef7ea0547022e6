import Appliance
import Library
import Media

/// A song of an answer: music of the library, or only a URI.
///
/// Rows are read into the same song one after the other, so that its arrays are reused.
struct MPDSong: Sendable {
    private(set) var uri: [UInt8]
    /// The fields from the index; nil for a URI that is not in the index.
    private(set) var details: Details?
    /// All tags, in the form of `TrackTags`.
    private(set) var tags: [UInt8] = []
    /// The tags without case and accents; empty until a filter needs them.
    private(set) var foldedTags: [UInt8] = []
    /// The priority in the queue.
    var priority = 0

    struct Details: Sendable {
        /// The number in the index.
        var id: Int64
        /// Seconds since 1970.
        var modified: Int64
        var format: MPDAudioFormat
        /// The duration in milliseconds; nil while it is unknown.
        var milliseconds: Int64?
        /// The number in a cue sheet; 0 for a whole file.
        var part: Int64
    }

    init(uri: String) { self.uri = Array(uri.utf8) }

    /// The duration in seconds; nil while it is unknown.
    var duration: Double? { details?.milliseconds.map { Double($0) / 1000 } }

    /// Takes another row.
    mutating func take(_ details: Details, _ fill: (_ uri: inout [UInt8], _ tags: inout [UInt8]) -> Void) {
        self.details = details
        uri.removeAll(keepingCapacity: true)
        tags.removeAll(keepingCapacity: true)
        foldedTags.removeAll(keepingCapacity: true)
        fill(&uri, &tags)
    }

    // MARK: Tags

    /// Calls `use` for each value with its tag, until it returns false.
    static func forEachValue(in tags: [UInt8], _ use: (MPDTag, ArraySlice<UInt8>) -> Bool) {
        let names = MPDTag.ofFields
        var place = 0
        while place < tags.count {
            let text = tags[(place + 1)...]
            let end = text.firstIndex(of: TrackTags.end) ?? tags.count
            if Int(tags[place]) < names.count, let tag = names[Int(tags[place])], !use(tag, tags[(place + 1)..<end]) {
                return
            }
            place = end + 1
        }
    }

    /// Returns the values of a tag. If there are none, returns the values of the first of `substitutes` that exists.
    func values(of tag: MPDTag, or substitutes: [MPDTag]) -> [ArraySlice<UInt8>] {
        var values: [ArraySlice<UInt8>] = []
        var best = Int.max
        Self.forEachValue(in: tags) { found, value in
            guard let rank = found == tag ? 0 : substitutes.firstIndex(of: found).map({ $0 + 1 }) else { return true }
            if rank < best { (best, values) = (rank, []) }
            if rank == best { values.append(value) }
            return true
        }
        return values
    }

    /// Makes the folded tags.
    mutating func fold() { if foldedTags.isEmpty { FoldedText.append(tags[...], to: &foldedTags) } }

    func matches(_ filter: MPDFilter) -> Bool {
        guard filter.usesFolded, foldedTags.isEmpty else { return filter.matches(self) }
        var folded = self
        folded.fold()
        return filter.matches(folded)
    }

    // MARK: Output

    /// Adds all lines of the song.
    func write(to output: inout [UInt8], _ wanted: MPDTags) {
        output.lines(atMost: lineSize) { lines in
            lines.line("file", uri)
            guard let details else { return }
            lines.lastModified(details.modified)
            details.format.write(to: &lines)
            writeTags(to: &lines, wanted)
            guard let milliseconds = details.milliseconds else { return }
            lines.line("Time", (milliseconds + 500) / 1000)
            lines.key("duration")
            lines.seconds(milliseconds: milliseconds)
            lines.endLine()
        }
    }

    /// The most bytes of the lines.
    private var lineSize: Int {
        let values = tags.count { $0 == TrackTags.end } + 1
        return uri.count + tags.count + values * (MPDTag.longestName + 3) + MPDLineWriter.lastModifiedSize
            + MPDAudioFormat.lineSize + 80
    }

    /// Works on raw memory, because an array slice for each value would count references.
    private func writeTags(to lines: inout MPDLineWriter, _ wanted: MPDTags) {
        let (names, end) = (MPDTag.ofFields, TrackTags.end)
        tags.withUnsafeBufferPointer { tags in
            guard let start = tags.baseAddress else { return }
            var place = 0
            while place < tags.count {
                let value = place + 1
                let field = Int(tags[place])
                place = value
                while place < tags.count, tags[place] != end { place += 1 }
                if field < names.count, let tag = names[field], wanted.contains(tag) {
                    lines.key(tag.text)
                    lines.bytes(start + value, place - value)
                    lines.endLine()
                }
                place += 1
            }
        }
    }
}
