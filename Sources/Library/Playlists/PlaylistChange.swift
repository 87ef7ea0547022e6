/// A change of the entries of a stored playlist.
package enum PlaylistChange: Equatable, Sendable {
    /// Adds entries, and creates a missing playlist. `at` is the index of the first added entry; nil for the end.
    case add([String], at: Int?)
    /// Removes entries. Indexes beyond the end are ignored.
    case remove(Range<Int>)
    /// Moves an entry to the index `to` among the others.
    case move(from: Int, to: Int)
    case clear
}

/// The lines of a stored playlist while they change.
struct PlaylistDraft {
    /// The lines; nil when there is no such playlist.
    private(set) var lines: [[UInt8]]?
    private(set) var hasChanged = false
    private var byteCount: Int

    init(_ lines: [[UInt8]]?) {
        self.lines = lines
        byteCount = lines.map(Self.size) ?? 0
    }

    private static func size(_ lines: [[UInt8]]) -> Int { lines.reduce(0) { $0 + $1.count + 1 } }

    /// - Parameter made: returns the lines of entries.
    mutating func make(
        _ change: PlaylistChange, of name: PlaylistName, mostBytes: Int,
        _ made: ([String]) throws(PlaylistFailure) -> [[UInt8]]
    ) throws(PlaylistFailure) {
        if case .add(let entries, let index) = change {
            return try add(try made(entries), at: index, mostBytes: mostBytes)
        }
        guard lines != nil else { throw .noSuchPlaylist(name.text) }
        switch change {
        case .add: break
        case .remove(let range): _ = try remove(range)
        case .move(let from, let to): try move(from: from, to: to)
        case .clear: (lines, byteCount, hasChanged) = ([], 0, true)
        }
    }

    private mutating func add(_ more: [[UInt8]], at index: Int?, mostBytes: Int) throws(PlaylistFailure) {
        let count = lines?.count ?? 0
        if count + more.count > PlaylistFolder.mostEntries { throw .full(.entries) }
        let size = byteCount + Self.size(more)
        if size > mostBytes { throw .full(.bytes) }
        let index = index ?? count
        guard index <= count else { throw .noSuchEntry(index: index, count: count) }
        if lines == nil { lines = [] }
        lines?.insert(contentsOf: more, at: index)
        (byteCount, hasChanged) = (size, true)
    }

    /// - Returns: the number of removed entries.
    mutating func remove(_ range: Range<Int>) throws(PlaylistFailure) -> Int {
        let count = lines?.count ?? 0
        try Self.check(range.lowerBound, of: count)
        let removed = range.clamped(to: 0..<count)
        if removed.isEmpty { return 0 }
        byteCount -= Self.size(Array(lines?[removed] ?? []))
        lines?.removeSubrange(removed)
        hasChanged = true
        return removed.count
    }

    private mutating func move(from: Int, to: Int) throws(PlaylistFailure) {
        let count = lines?.count ?? 0
        try Self.check(from, of: count)
        try Self.check(to, of: count)
        guard from != to, let line = lines?.remove(at: from) else { return }
        lines?.insert(line, at: to)
        hasChanged = true
    }

    private static func check(_ index: Int, of count: Int) throws(PlaylistFailure) {
        if !(0..<count).contains(index) { throw .noSuchEntry(index: index, count: count) }
    }
}
