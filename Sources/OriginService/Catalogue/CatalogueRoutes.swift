import Crypto
import Database
import HTTPServer
import Library
import Platform

/// The routes to find music: lists, search, the description of one track, album or playlist, and the covers of albums
/// (docs/service.md, "Catalogue"; docs/decisions/origin-catalogue.md).
///
/// Thread: any.
struct CatalogueRoutes: Sendable {
    let index: MusicIndex

    /// - Parameter path: the path after `/v1`.
    /// - Returns: nil for a path outside the catalogue.
    func answer(to request: HTTPRequest, _ path: ArraySlice<Substring>) throws(DatabaseError) -> HTTPAnswer? {
        let page: ListPage
        do throws(ListPage.Mistake) { page = try ListPage(request.query) } catch {
            return .wrongParameter(error.parameter)
        }
        let words = path.dropFirst()
        if words.count == 2, path.first == "albums", words.last == "cover" {
            return try one(words, index.album).flatMap { (album) throws(DatabaseError) in
                try Cover(of: album.id, index)?.resource?.answer(to: request)
            }
        }
        let json: JSONValue?
        switch (path.first, words.count) {
        case ("search", 0): return try search(request, page)
        case ("tracks", 0): json = try described(try index.tracks(page), page)
        case ("albums", 0): json = try described(try index.albums(page), page)
        case ("playlists", 0): json = try index.playlists(page).json(page, \.json)
        case ("tracks", 1):
            json = try one(words, index.track).map { (track) throws(DatabaseError) in
                track.json(try covers([track]))
            }
        case ("albums", 1):
            json = try one(words, index.album).map { (album) throws(DatabaseError) in
                album.json(try Cover.among([album.id], index))
            }
        case ("playlists", 1): json = try one(words, index.playlist)?.json
        case ("albums", 2) where words.last == "tracks":
            json = try one(words, index.album).map { (album) throws(DatabaseError) in
                try described(try index.tracks(ofAlbum: album.id, page), page)
            }
        case ("playlists", 2) where words.last == "tracks":
            json = try one(words, index.playlist).map { (playlist) throws(DatabaseError) in
                try described(try index.tracks(ofPlaylist: playlist.id, page), page)
            }
        default: return nil
        }
        return json.map { Self.answer(to: request, $0) }
    }

    private func described(_ tracks: ListPart<Track>, _ page: ListPage) throws(DatabaseError) -> JSONValue {
        let covers = try covers(tracks.entries)
        return tracks.json(page) { $0.json(covers) }
    }

    private func described(_ albums: ListPart<Album>, _ page: ListPage) throws(DatabaseError) -> JSONValue {
        let covers = try Cover.among(albums.entries.map { $0.id }, index)
        return albums.json(page) { $0.json(covers) }
    }

    /// Returns the albums of tracks that have a cover.
    private func covers(_ tracks: [Track]) throws(DatabaseError) -> Set<Int64> {
        try Cover.among(tracks.compactMap { $0.albumId }, index)
    }

    /// Finds the entry with the number at the beginning of the path.
    private func one<Entry>(
        _ path: ArraySlice<Substring>, _ find: (Int64) throws(DatabaseError) -> Entry?
    ) throws(DatabaseError) -> Entry? {
        guard let number = path.first.flatMap({ Int64($0) }) else { return nil }
        return try find(number)
    }

    private static let kinds = ["tracks", "albums", "playlists"]

    private func search(_ request: HTTPRequest, _ page: ListPage) throws(DatabaseError) -> HTTPAnswer {
        guard let words = request.query["query"].flatMap(SearchWords.init) else { return .wrongParameter("query") }
        let kinds = request.query["types"]?.lowercased().split(separator: ",").map(String.init) ?? Self.kinds
        guard !kinds.isEmpty, kinds.allSatisfy(Self.kinds.contains) else { return .wrongParameter("types") }
        var json = JSONValue.object([])
        for kind in kinds {
            switch kind {
            case "tracks": json[kind] = try described(try index.tracks(matching: words, page), page)
            case "albums": json[kind] = try described(try index.albums(matching: words, page), page)
            default: json[kind] = try index.playlists(matching: words, page).json(page, \.json)
            }
        }
        return Self.answer(to: request, json)
    }

    /// Makes an answer that clients may store, if they ask each time whether it has changed.
    private static func answer(to request: HTTPRequest, _ json: JSONValue) -> HTTPAnswer {
        let body = Array(json.serialized().utf8)
        guard let hash = try? SHA256.hash(body) else { preconditionFailure("SHA-256 without memory") }
        return ServedResource(
            body: ContentBody(body), contentType: "application/json",
            entityTag: "\"\(hexadecimal(hash[..<16]))\"", cacheControl: "private, no-cache"
        ).answer(to: request)
    }
}
