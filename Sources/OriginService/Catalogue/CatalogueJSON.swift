import Library
import Platform

extension ListPage {
    /// The number of entries of a page without `limit`.
    static let defaultLimit: Int64 = 50
    static let mostEntries: Int64 = 200

    /// The name of the wrong parameter.
    struct Mistake: Error {
        let parameter: String
    }

    /// The page of a request: 1 to 200 entries.
    init(_ query: [String: String]) throws(Mistake) {
        self.init(
            limit: try Self.number("limit", query, Self.defaultLimit, 1...Self.mostEntries),
            offset: try Self.number("offset", query, 0, 0...Int64(Int32.max)))
    }

    private static func number(
        _ name: String, _ query: [String: String], _ missing: Int64, _ range: ClosedRange<Int64>
    ) throws(Mistake) -> Int64 {
        guard let text = query[name] else { return missing }
        guard let number = Int64(text), range.contains(number) else { throw Mistake(parameter: name) }
        return number
    }
}

extension ListPart {
    func json(_ page: ListPage, _ entry: (Entry) -> JSONValue) -> JSONValue {
        [
            "limit": .integer(page.limit), "offset": .integer(page.offset), "totalNumberOfItems": .integer(total),
            "items": .array(entries.map(entry)),
        ]
    }
}

extension Album {
    /// - Parameter covers: the albums that have a cover.
    func json(_ covers: Set<Int64>) -> JSONValue {
        var json: JSONValue = ["id": .integer(id), "title": .string(title)]
        if !artist.isEmpty { json["artist"] = .string(artist) }
        json["numberOfTracks"] = .integer(trackCount)
        if covers.contains(id) { json["cover"] = .string(Cover.reference(id)) }
        return json
    }
}

extension Playlist {
    var json: JSONValue {
        ["id": .integer(id), "title": .string(title), "numberOfTracks": .integer(trackCount)]
    }
}

extension Track {
    /// The description by which users choose it (docs/service.md, "Catalogue").
    /// - Parameter covers: the albums that have a cover.
    func json(_ covers: Set<Int64>) -> JSONValue {
        var json: JSONValue = ["id": .integer(id), "title": .string(name)]
        if let artist = metadata.artist { json["artist"] = .string(artist) }
        if let title = metadata.album, let albumId {
            var album: JSONValue = ["id": .integer(albumId), "title": .string(title)]
            if let artist = metadata.albumArtist { album["artist"] = .string(artist) }
            if covers.contains(albumId) { album["cover"] = .string(Cover.reference(albumId)) }
            json["album"] = album
        }
        if let number = metadata.trackNumber { json["trackNumber"] = .integer(Int64(number)) }
        if let number = metadata.discNumber { json["discNumber"] = .integer(Int64(number)) }
        if let duration { json["duration"] = .real(duration) }
        json["audioQuality"] = .string(audioQuality)
        json["sampleRate"] = .integer(Int64(format.sampleRate))
        json["bitDepth"] = .integer(Int64(format.bitDepth))
        json["channels"] = .integer(Int64(format.channelCount))
        return json
    }
}
