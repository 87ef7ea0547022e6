import Appliance
import Database
import Library

// The commands find and search, and their songs for other commands.

extension MPDDatabase {
    func find(_ arguments: [String], isSearch: Bool) throws(MPDFailure) -> MPDPages {
        let selection = try MPDSelection(parsing: arguments, isSearch: isSearch)
        let walk = try walk(selection)
        // The window was already applied to sorted songs.
        return songs(of: walk, selection.order == nil ? selection.window : 0..<Int.max) { song, tags, output in
            song.write(to: &output, tags)
        }
    }

    /// Returns pages with the songs of a walk.
    /// - Parameters:
    ///   - window: the indexes in the walk that are requested.
    ///   - head: the lines before the songs.
    func songs(
        of walk: MPDWalk, _ window: Range<Int> = 0..<Int.max, after head: [UInt8] = [],
        write: @escaping (MPDSong, MPDTags, inout [UInt8]) -> Void
    ) -> MPDPages {
        var walk = walk
        var place = 0
        var head = head
        let (database, tags) = (self, tags)
        return MPDPages { (output) throws(MPDFailure) in
            output += head
            head = []
            return try database.read { (index) throws(DatabaseError) in
                var reader = MPDReader(index, database.paths)
                return try walk.forEach(&reader) { song in
                    if window.contains(place) { write(song, tags, &output) }
                    place += 1
                    return place < window.upperBound && output.count < MPDPages.pieceSize
                } && place < window.upperBound
            }
        }
    }

    /// Returns the songs of a selection. If the selection has an order, its window is applied.
    func walk(_ selection: MPDSelection) throws(MPDFailure) -> MPDWalk {
        let base = try base(of: selection.filter)
        var candidates: MPDCandidates?
        if !base.isFilter {
            var found = MPDCandidates()
            try forEachSong(selection.filter) { _, id, folder in found.insert(id, in: folder) }
            candidates = found
        }
        return try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            let walk = MPDWalk(try reader.folders(below: base.paths), candidates)
            guard let order = selection.order else { return walk }
            return MPDWalk(songs: try Self.sorted(walk, order, selection, &reader))
        }
    }

    /// Returns the numbers of the songs in the order and the window of a selection.
    private static func sorted(
        _ walk: MPDWalk, _ order: MPDSelection.Order, _ selection: MPDSelection, _ reader: inout MPDReader
    ) throws(DatabaseError) -> [Int64] {
        var records = MPDRecords(
            isDescending: selection.isDescending, merges: false, limit: selection.window.upperBound)
        var walk = walk
        _ = try walk.forEach(&reader) { song in
            records.append(sortKey(of: song, order), number: song.details?.id ?? 0)
            return true
        }
        records.finish()
        return records.entries.dropFirst(selection.window.lowerBound).map { $0.number }
    }

    /// Returns bytes whose order is that of the songs.
    private static func sortKey(of song: MPDSong, _ order: MPDSelection.Order) -> [UInt8] {
        func bytes(_ number: Int64) -> [UInt8] {
            let shifted = UInt64(bitPattern: number) ^ 1 << 63
            return (0..<8).map { UInt8(truncatingIfNeeded: shifted >> UInt64(56 - 8 * $0)) }
        }
        guard case .tag(let tag) = order else { return bytes(song.details?.modified ?? 0) }
        let value = song.values(of: tag, or: tag.sortSubstitutes).first ?? []
        guard tag == .track || tag == .disc else { return Array(value) }
        return bytes(value.prefix { (0x30...0x39).contains($0) }.prefix(9).reduce(0) { $0 * 10 + Int64($1 - 0x30) })
    }

    // MARK: Conditions

    /// Calls `use` for each song that matches, in the order of the index.
    /// - Parameter filter: nil for all songs.
    func forEachSong(
        _ filter: MPDFilter?, _ use: (MPDSong, _ id: Int64, _ folder: Int64) -> Void
    ) throws(MPDFailure) {
        let tracks = filter?.trackFilter(paths) ?? .every
        let (usesFolded, usesURI) = (filter?.usesFolded ?? false, filter?.usesURI ?? false)
        try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            try reader.forEachSong(tracks, needsURI: usesURI) { song, id, folder in
                if usesFolded { song.fold() }
                if filter?.matches(song) ?? true { use(song, id, folder) }
            }
        }
    }

    /// Returns the folders that contain the songs of a filter, and whether they are its only condition.
    /// - Throws: when a base is not music.
    func base(of filter: MPDFilter) throws(MPDFailure) -> (paths: [String], isFilter: Bool) {
        let parts = filter.parts
        let all = paths.sortedRoots.map { $0.path }
        for part in parts {
            guard case .base(let uri) = part else { continue }
            switch try place(of: String(decoding: uri, as: UTF8.self)) {
            case nil: return (all, parts.count == 1)
            case .folder(let path): return ([path], parts.count == 1)
            case .song, .sheet: return (all, false)
            }
        }
        return (all, false)
    }
}
