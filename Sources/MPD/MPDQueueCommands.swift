import Appliance
import Player
import Queue

extension MPDCommand {
    /// The commands about the queue.
    static let queue = [
        MPDCommand("playlistinfo", 0...1, .read) { (player, client, arguments) throws(MPDFailure) in
            let range = try player.range(arguments.first)
            return player.songs(range, client)
        },
        MPDCommand("playlistid", 0...1, .read) { (player, client, arguments) throws(MPDFailure) in
            guard let id = arguments.first else { return player.songs(0..<player.contents.count, client) }
            let entry = try player.entry(id)
            return player.songs(player.contents.index(of: entry).map { [$0] } ?? [], client)
        },
        // The form of old clients: `0:file: URI`.
        MPDCommand("playlist", 0...0, .read) { player, client, _ in
            player.songs(0..<player.contents.count, client, form: .names)
        },
        MPDCommand("plchanges", 1...2, .read) { (player, client, arguments) throws(MPDFailure) in
            player.songs(try player.changes(arguments), client)
        },
        MPDCommand("plchangesposid", 1...2, .read) { (player, client, arguments) throws(MPDFailure) in
            player.songs(try player.changes(arguments), client, form: .places)
        },
        MPDCommand("playlistfind", 1...MPDArguments.limit, .read) { (player, client, arguments) throws(MPDFailure) in
            try player.songs(matching: arguments, isSearch: false, client)
        },
        MPDCommand("playlistsearch", 1...MPDArguments.limit, .read) { (player, client, arguments) throws(MPDFailure) in
            try player.songs(matching: arguments, isSearch: true, client)
        },
        MPDCommand("add", 1...2, .add, .work) { (player, client, arguments) throws(MPDFailure) in
            try player.add(arguments, client, answersID: false)
        },
        MPDCommand("addid", 1...2, .add, .work) { (player, client, arguments) throws(MPDFailure) in
            try player.add(arguments, client, answersID: true)
        },
        MPDCommand("clear", 0...0, .control, .edit) { player, _, _ in
            player.queue.clear()
            return .done
        },
        MPDCommand("delete", 1...1, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            let range = try MPDNumbers.range(arguments[0], count: player.contents.count)
            let entries = Array(player.contents.playOrder[range])
            try player.edit { queue throws(PlayQueueError) in queue.remove(entries) }
            return .done
        },
        MPDCommand("deleteid", 1...1, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            let entry = try player.entry(arguments[0])
            try player.edit { queue throws(PlayQueueError) in queue.remove([entry]) }
            return .done
        },
        MPDCommand("move", 2...2, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            let count = player.contents.count
            let range = try MPDNumbers.range(arguments[0], count: count)
            guard range.upperBound <= count, !range.isEmpty else { throw MPDNumbers.badIndex }
            return try player.move(range, to: arguments[1])
        },
        MPDCommand("moveid", 2...2, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            let entry = try player.entry(arguments[0])
            guard let place = player.contents.index(of: entry) else { throw MPDNumbers.noSuchSong }
            return try player.move(place..<(place + 1), to: arguments[1])
        },
        MPDCommand("swap", 2...2, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            try player.swap(try player.entry(at: arguments[0]), try player.entry(at: arguments[1]))
        },
        MPDCommand("swapid", 2...2, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            try player.swap(try player.entry(arguments[0]), try player.entry(arguments[1]))
        },
        MPDCommand("shuffle", 0...1, .control, .edit) { (player, _, arguments) throws(MPDFailure) in
            let range = try player.range(arguments.first)
            let random = player.daemon.environment.random
            try player.edit { queue throws(PlayQueueError) in queue.shuffle(range, random: random) }
            return .done
        },
        MPDCommand("prio", 2...MPDArguments.limit, .control) { (player, _, arguments) throws(MPDFailure) in
            let priority = UInt8(try MPDNumbers.integer(arguments[0], 0...255))
            // Each position is used once, even if several ranges contain it.
            var isChosen = [Bool](repeating: false, count: player.contents.count)
            for text in arguments.dropFirst() { for place in try player.range(text) { isChosen[place] = true } }
            try player.setPriority(priority, at: isChosen.indices.filter { isChosen[$0] })
            return .done
        },
        MPDCommand("prioid", 2...MPDArguments.limit, .control) { (player, _, arguments) throws(MPDFailure) in
            let priority = UInt8(try MPDNumbers.integer(arguments[0], 0...255))
            var places: [Int] = []
            for text in arguments.dropFirst() {
                if let place = player.contents.index(of: try player.entry(text)) { places.append(place) }
            }
            try player.setPriority(priority, at: places)
            return .done
        },
    ]
}

extension MPDPlayer {
    /// Returns a range of positions; without a text all positions.
    fileprivate func range(_ text: String?) throws(MPDFailure) -> Range<Int> {
        guard let text else { return 0..<contents.count }
        return try MPDNumbers.range(text, count: contents.count)
    }

    // MARK: Reading

    /// Answers with the songs at these positions.
    func songs(_ places: some Sequence<Int>, _ client: MPDClient, form: MPDQueuePieces.Form = .songs) -> MPDStep {
        let pieces = MPDQueuePieces(self, places: places, tags: client.tags, form: form)
        return .later { $0(.success(.pieces(pieces))) }
    }

    fileprivate func songs(
        matching arguments: [String], isSearch: Bool, _ client: MPDClient
    ) throws(MPDFailure) -> MPDStep {
        let pieces = MPDQueuePieces(self, places: 0..<contents.count, tags: client.tags, form: .songs)
        pieces.selection = try MPDFilter(parsing: arguments, isSearch: isSearch)
        return .later { $0(.success(.pieces(pieces))) }
    }

    /// Returns the positions that have changed since the version in the first argument.
    fileprivate func changes(_ arguments: [String]) throws(MPDFailure) -> [Int] {
        // A version above the current one, or a negative one, is unknown.
        guard let version = Int64(arguments[0]) else {
            throw MPDFailure(.argument, "Integer expected: \(arguments[0])")
        }
        let all = 0..<contents.count
        let range = arguments.count > 1 ? try MPDNumbers.openRange(arguments[1]).clamped(to: all) : all
        return versions.changes(since: UInt32(exactly: version) ?? 0, in: range)
    }

    // MARK: Changing

    fileprivate func add(_ arguments: [String], _ client: MPDClient, answersID: Bool) throws(MPDFailure) -> MPDStep {
        let (uri, isLocal) = (arguments[0], client.isLocal)
        return .work(
            .music(
                MPDMusicWork { (database) throws(MPDFailure) in
                    try MPDMusic(database, isLocal: isLocal).music(at: uri)
                } use: { [self] (music) throws(MPDFailure) in
                    if answersID, music.count != 1 { throw MPDNumbers.noSuchSong }
                    // Read only now, because earlier commands of the list may have changed the number of entries.
                    let place = try arguments.count > 1 ? self.place(arguments[1], count: contents.count) : nil
                    let first = try insert(music, at: place)
                    var output = MPDOutput()
                    if answersID, let first { output.pair("Id", first.number) }
                    return output
                }))
    }

    /// Adds music at a position, or at the end.
    /// - Returns: the id of the first entry; the ids of the others follow it.
    @discardableResult
    func insert(_ music: FoundMusic, at index: Int?) throws(MPDFailure) -> EntryID? {
        do throws(PlayQueueError) {
            return try queue.add(music, index.map { .index($0) } ?? .end)
        } catch {
            throw MPDFailure(error)
        }
    }

    fileprivate func move(_ range: Range<Int>, to text: String) throws(MPDFailure) -> MPDStep {
        let count = contents.count
        let place = try destination(text, of: range)
        guard place + range.count <= count else { throw MPDNumbers.badIndex }
        try edit { queue throws(PlayQueueError) in
            queue.reorder { order in
                let moved = order[range]
                order.removeSubrange(range)
                order.insert(contentsOf: moved, at: place)
            }
        }
        return .done
    }

    /// Returns the position of a moved range after the move. `+N` and `-N` are positions relative to the current entry.
    private func destination(_ text: String, of range: Range<Int>) throws(MPDFailure) -> Int {
        let place = try place(text, count: contents.count)
        guard let sign = text.utf8.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return place }
        // `place` still counts the moved entries before it.
        return place - range.clamped(to: 0..<max(0, place)).count
    }

    fileprivate func swap(_ one: EntryID, _ other: EntryID) throws(MPDFailure) -> MPDStep {
        guard let first = contents.index(of: one), let second = contents.index(of: other) else {
            throw MPDNumbers.noSuchSong
        }
        try edit { queue throws(PlayQueueError) in queue.reorder { $0.swapAt(first, second) } }
        return .done
    }
}
