import Appliance
import Database

// The commands list and count: values of tags, and the number of songs with each.

extension MPDDatabase {
    func list(_ arguments: [String]) throws(MPDFailure) -> MPDPages {
        var rest = arguments
        guard let name = rest.first else { throw MPDFailure(.argument, "too few arguments for \"list\"") }
        rest.removeFirst()
        if MPDWord.isEqual(name, "file") || MPDWord.isEqual(name, "filename") {
            let filter: MPDFilter = rest.isEmpty ? .base([]) : try MPDFilter(parsing: rest, isSearch: false)
            return songs(of: try walk(MPDSelection(filter))) { song, _, output in output.line("file", song.uri) }
        }
        let tag = try Self.tag(named: name)
        // `list album ARTIST`, the form of MPD before 0.12.
        if rest.count == 1, rest[0].utf8.first != UInt8(ascii: "(") {
            guard tag == .album else { throw MPDFailure(.argument, "should be \"Album\" for 3 arguments") }
            rest = ["Artist", rest[0]]
        }
        // The last group is the first tag of the answer.
        var tags = [tag]
        while let group = MPDSelection.take("group", from: &rest) {
            let group = try Self.tag(named: group)
            if tags.contains(group) { throw MPDFailure(.argument, "Conflicting group") }
            tags.append(group)
        }
        let filter = rest.isEmpty ? nil : try MPDFilter(parsing: rest, isSearch: false)
        let order = Array(tags.dropFirst()) + [tag]
        return Self.pages(of: try values(of: order, filter), order)
    }

    func count(_ arguments: [String]) throws(MPDFailure) -> MPDPages {
        var rest = arguments
        let group = try MPDSelection.take("group", from: &rest).map { (name) throws(MPDFailure) in
            try Self.tag(named: name)
        }
        if rest.isEmpty, group == nil { throw MPDFailure(.argument, "too few arguments for \"count\"") }
        let filter = rest.isEmpty ? nil : try MPDFilter(parsing: rest, isSearch: false)
        var counts = try values(of: group.map { [$0] } ?? [], filter)
        if group == nil, counts.entries.isEmpty { counts.append([], number: 0) }
        var place = 0
        return MPDPages { (output) throws(MPDFailure) in
            guard place < counts.entries.count else { return false }
            let entry = counts.entries[place]
            if let group { output.line(group.text, counts.key(place)) }
            output.line("songs", entry.number)
            output.line("playtime", entry.milliseconds / 1000)
            place += 1
            return true
        }
    }

    private static func tag(named name: String) throws(MPDFailure) -> MPDTag {
        guard let tag = MPDTag(named: name) else { throw MPDFailure(.argument, "Unknown tag type: \(name)") }
        return tag
    }

    /// Separates values in a key. It sorts before all bytes of texts.
    private static let separator: UInt8 = 0

    /// Returns the combinations of values of these tags that occur in songs, with the number and duration of the songs.
    private func values(of tags: [MPDTag], _ filter: MPDFilter?) throws(MPDFailure) -> MPDRecords {
        var records = MPDRecords(merges: true)
        var key: [UInt8] = []
        var left = 0
        if let filter { _ = try base(of: filter) }
        try forEachSong(filter) { song, _, _ in
            key.removeAll(keepingCapacity: true)
            left = Self.mostCombinations
            Self.append(tags[...], of: song, to: &key, &left) { key in
                records.append(key, milliseconds: song.details?.milliseconds ?? 0)
            }
        }
        records.finish()
        return records
    }

    /// The most combinations of one song. A song with many values in each tag would have millions of them.
    private static let mostCombinations = 1000

    /// Calls `use` for each combination of values, until the maximum is reached.
    private static func append(
        _ tags: ArraySlice<MPDTag>, of song: MPDSong, to key: inout [UInt8], _ left: inout Int,
        _ use: ([UInt8]) -> Void
    ) {
        guard let tag = tags.first else {
            left -= 1
            return use(key)
        }
        let start = key.count
        let values = song.values(of: tag, or: tag.substitutes)
        for value in values.isEmpty ? [[]] : values where left > 0 {
            if tags.startIndex > 0 { key.append(separator) }
            key.append(contentsOf: value)
            append(tags.dropFirst(), of: song, to: &key, &left, use)
            key.removeLast(key.count - start)
        }
    }

    /// Writes values after the values of their groups. A group's value is repeated only when it changes.
    private static func pages(of records: MPDRecords, _ tags: [MPDTag]) -> MPDPages {
        var place = 0
        var last: [ArraySlice<UInt8>] = []
        return MPDPages { (output) throws(MPDFailure) in
            guard place < records.entries.count else { return false }
            let values = records.key(place).split(separator: separator, omittingEmptySubsequences: false)
            var isNew = false
            for (level, value) in values.enumerated() where level < tags.count {
                isNew = isNew || level >= last.count || level == tags.count - 1 || !last[level].elementsEqual(value)
                if isNew { output.line(tags[level].text, value) }
            }
            last = values
            place += 1
            return true
        }
    }
}
