import Appliance
import Database
import Library
import Platform

/// Answers MPD's commands about the library, from the index (docs/mpd.md).
///
///     let pages = try MPDDatabase(index, paths).answer(to: "find", ["Artist", "Nico"])
///     while let piece = try pages.next() { send(piece) }
///
/// Thread: that of queries, which may block on the medium.
struct MPDDatabase: Sendable {
    let index: MusicIndex
    let paths: MusicURIs
    /// The tags that the client has requested.
    let tags: MPDTags

    static let names: [StaticString] = [
        "count", "find", "list", "listall", "listallinfo", "listfiles", "lsinfo", "readcomments", "search",
    ]

    init(_ index: MusicIndex, _ paths: MusicURIs, tags: MPDTags = .all) {
        self.index = index
        self.paths = paths
        self.tags = tags
    }

    /// - Parameter name: one of `names`.
    func answer(to name: String, _ arguments: [String]) throws(MPDFailure) -> MPDPages {
        func isNamed(_ word: StaticString) -> Bool { MPDWord.isSame(name, word) }
        let first = arguments.first ?? ""
        if isNamed("count") { return try count(arguments) }
        if isNamed("find") { return try find(arguments, isSearch: false) }
        if isNamed("search") { return try find(arguments, isSearch: true) }
        if isNamed("list") { return try list(arguments) }
        if isNamed("listall") { return try listAll(first, isFull: false) }
        if isNamed("listallinfo") { return try listAll(first, isFull: true) }
        if isNamed("listfiles") { return try files(first) }
        if isNamed("lsinfo") { return try folder(first) }
        if isNamed("readcomments") { return try comments(first) }
        throw MPDFailure(.unknown, "unknown command \"\(name)\"")
    }

    /// Runs `body` on the index.
    func read<Value>(_ body: (IndexReader) throws(DatabaseError) -> Value) throws(MPDFailure) -> Value {
        do throws(DatabaseError) { return try index.read(body) } catch {
            throw MPDFailure(.system, "the library cannot be read: \(error.description)")
        }
    }

    static let noFolder = MPDFailure(.noSuchObject, "No such directory")
    static let noSong = MPDFailure(.noSuchObject, "No such song")

    // MARK: Songs of the queue

    /// Calls `use` for the songs of paths that the queue plays, in their order. A song that is not in the library has
    /// only its URI.
    func forEachSong(at playedPaths: [String], _ use: (Int, inout MPDSong) -> Void) throws(MPDFailure) {
        try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            var song = MPDSong(uri: "")
            try reader.forEachSong(at: playedPaths, &song) { number, song, isKnown in
                if !isKnown { song = MPDSong(uri: paths.shownURI(ofPath: playedPaths[number])) }
                use(number, &song)
            }
        }
    }

    // MARK: Paths for the queue

    /// Returns the paths of the songs that `findadd` and similar commands add, in the form of the queue.
    func paths(matching arguments: [String], isSearch: Bool) throws(MPDFailure) -> [String] {
        let selection = try MPDSelection(parsing: arguments, isSearch: isSearch)
        return try playedPaths(of: try walk(selection), selection.order == nil ? selection.window : 0..<Int.max)
    }

    /// Returns the paths of a song, or of all songs in a folder.
    func paths(inURI uri: String) throws(MPDFailure) -> [String] {
        switch try place(of: uri) {
        case .song(let song): return try playedPaths(of: MPDWalk(songs: [song]))
        case .sheet(let folder, let file):
            let songs = try read { (index) throws(DatabaseError) in
                try MPDReader(index, paths).songs(ofSheet: file, in: folder)
            }
            return try playedPaths(of: MPDWalk(songs: songs))
        case .folder(let path):
            let folders = try read { (index) throws(DatabaseError) in
                try MPDReader(index, paths).folders(below: [path])
            }
            return try playedPaths(of: MPDWalk(folders))
        case nil:
            let folders = try read { (index) throws(DatabaseError) in
                try MPDReader(index, paths).folders(below: paths.sortedRoots.map { $0.path })
            }
            return try playedPaths(of: MPDWalk(folders))
        }
    }

    private func playedPaths(of walk: MPDWalk, _ window: Range<Int> = 0..<Int.max) throws(MPDFailure) -> [String] {
        try read { (index) throws(DatabaseError) in
            var reader = MPDReader(index, paths)
            var (walk, played, place) = (walk, [String](), 0)
            _ = try walk.forEach(&reader) { song in
                if window.contains(place), let path = paths.path(ofURI: String(decoding: song.uri, as: UTF8.self)) {
                    played.append(path)
                }
                place += 1
                return place < window.upperBound
            }
            return played
        }
    }

    /// Returns the music of a URI; nil for the root.
    /// - Throws: when there is no music.
    func place(of uri: String) throws(MPDFailure) -> MPDReader.Music? {
        if uri.utf8.isEmpty || MPDWord.isSame(uri, "/") { return nil }
        guard MusicURIs.isSafe(uri), let path = paths.path(ofURI: uri) else { throw Self.noFolder }
        let place = try read { (index) throws(DatabaseError) in try MPDReader(index, paths).music(at: path) }
        guard let place else { throw Self.noFolder }
        return place
    }
}
