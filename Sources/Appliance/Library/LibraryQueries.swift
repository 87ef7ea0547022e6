import Database
import Library
import Platform

/// Answers requests from the index.
///
/// Thread: any that may block on the medium.
struct LibraryQueries {
    /// The most albums and artists of a search.
    private static let mostOthers: Int64 = 20

    private let index: MusicIndex
    private let favourites: FavouriteSet

    init(_ index: MusicIndex, _ favourites: FavouriteSet) { (self.index, self.favourites) = (index, favourites) }

    func search(_ text: String, _ page: LibraryRequest.Page) throws(RemoteFailure) -> LibraryReply {
        guard let words = SearchWords(text) else {
            throw RemoteFailure(.badRequest, "words: must be at most 16 words with a letter or digit each")
        }
        return try read { () throws(DatabaseError) in
            let tracks = try index.tracks(matching: words, page.page)
            return .found(
                tracks: ListPart(total: tracks.total, entries: tracks.entries.map { entry($0) }),
                from: page.from, albums: try index.albums(matching: words, limit: Self.mostOthers),
                artists: try index.names(.albumArtist, matching: words, limit: Self.mostOthers))
        }
    }

    /// - Parameter of: the number, name or path to which the entries belong; nil for all.
    func list(
        _ list: LibraryRequest.List, _ of: String?, _ page: LibraryRequest.Page
    ) throws(RemoteFailure) -> LibraryReply {
        .entries(try entries(list, of, page.page), from: page.from)
    }

    private func entries(
        _ list: LibraryRequest.List, _ of: String?, _ page: ListPage
    ) throws(RemoteFailure) -> ListPart<LibraryEntry> {
        switch list {
        case .artists: return try names(.albumArtist, page)
        case .genres: return try names(.genre, page)
        case .recent: return try albums { () throws(DatabaseError) in try index.recentAlbums(page) }
        case .albums:
            guard let of else { return try albums { () throws(DatabaseError) in try index.albums(page) } }
            let name = try name(of)
            return try albums { () throws(DatabaseError) in try index.albums(ofName: name, page) }
        case .tracks: return try tracks(of, page)
        case .folders:
            let path = of ?? "/"
            return try read { () throws(DatabaseError) in
                let names = try index.folders(in: path)
                let parent = path.utf8.elementsEqual("/".utf8) ? "" : path
                let part = names.dropFirst(Int(clamping: page.offset)).prefix(Int(clamping: page.limit))
                return ListPart(total: Int64(names.count), entries: part.map { .folder("\(parent)/\($0)") })
            }
        }
    }

    /// - Parameter of: an album, or the path of a folder; nil for all tracks.
    private func tracks(_ of: String?, _ page: ListPage) throws(RemoteFailure) -> ListPart<LibraryEntry> {
        let part: ListPart<Track>
        if let of, of.utf8.first == UInt8(ascii: "/") {
            part = try read { () throws(DatabaseError) in try index.tracks(ofFolder: of, page) }
        } else if let of {
            let album = try album(of)
            part = try read { () throws(DatabaseError) in try index.tracks(ofAlbum: album, page) }
        } else {
            part = try read { () throws(DatabaseError) in try index.tracks(page) }
        }
        return ListPart(total: part.total, entries: part.entries.map { entry($0) })
    }

    private func names(_ kind: NameKind, _ page: ListPage) throws(RemoteFailure) -> ListPart<LibraryEntry> {
        let part = try read { () throws(DatabaseError) in try index.names(kind, page) }
        return ListPart(total: part.total, entries: part.entries.map { .name($0) })
    }

    private func albums(
        _ list: () throws(DatabaseError) -> ListPart<Album>
    ) throws(RemoteFailure) -> ListPart<LibraryEntry> {
        let part = try read(list)
        return ListPart(total: part.total, entries: part.entries.map { .album($0) })
    }

    /// Returns the number of an artist or a genre.
    /// - Parameter text: the number, or the name without regard to case and accents.
    private func name(_ text: String) throws(RemoteFailure) -> Int64 {
        if let number = Int64(text) { return number }
        let found = try read { () throws(DatabaseError) in try index.names(called: text) }
        guard let first = found.first else { throw RemoteFailure(.noMusic, "\(text): no such artist in the library") }
        if found.count == 1 { return first.id }
        throw Self.ambiguous(text, "artists", found.map { "\($0.id) (\($0.text))" })
    }

    /// Returns the number of an album.
    /// - Parameter text: the number, or the title without regard to case and accents.
    private func album(_ text: String) throws(RemoteFailure) -> Int64 {
        if let number = Int64(text) { return number }
        let found = try read { () throws(DatabaseError) in try index.albums(called: text) }
        guard let first = found.first else { throw RemoteFailure(.noMusic, "\(text): no such album in the library") }
        if found.count == 1 { return first.id }
        let albums = found.map { album in
            let about = [album.artist, album.date ?? ""].filter { !$0.utf8.isEmpty }.joined(separator: ", ")
            return about.utf8.isEmpty ? "\(album.id)" : "\(album.id) (\(about))"
        }
        throw Self.ambiguous(text, "albums", albums)
    }

    /// The most entries that a message names.
    private static let mostNamed = 10

    private static func ambiguous(_ text: String, _ kind: String, _ entries: [String]) -> RemoteFailure {
        let named = entries.prefix(mostNamed).joined(separator: ", ")
        let others = entries.count > mostNamed ? " and others" : ""
        return RemoteFailure(
            .badRequest, "\(text): \(entries.count) \(kind) have this name; give a number: \(named)\(others)")
    }

    private func entry(_ track: Track) -> LibraryEntry {
        .music(ListedMusic(track, isFavourite: favourites.contains(track.content)))
    }

    func status(_ known: LibraryStatus) -> LibraryStatus {
        var status = known
        do throws(DatabaseError) {
            status.tracks = try index.count(.tracks)
            status.albums = try index.count(.albums)
            status.artists = try index.count(.names(.albumArtist))
            status.playlists = try index.count(.playlists)
            status.bytes = try index.count(.bytes)
        } catch {
            Log.warning("the library cannot be read: \(error.description)")
        }
        return status
    }

    private func read<Value>(_ body: () throws(DatabaseError) -> Value) throws(RemoteFailure) -> Value {
        do throws(DatabaseError) { return try body() } catch {
            throw RemoteFailure(.system, "the library cannot be read: \(error.description)")
        }
    }
}
