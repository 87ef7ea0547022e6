import Appliance
import Library
import Media
import Platform

/// Requests about the library, their replies and the event, as JSON. `docs/control.md` documents them.
enum LibraryJSON {
    typealias Member = JSONValue.Member

    private static let lists: [(name: String, list: LibraryRequest.List)] = [
        ("artists", .artists), ("albums", .albums), ("tracks", .tracks), ("genres", .genres), ("folders", .folders),
        ("recent", .recent),
    ]
    private static let heardLists: [(name: String, list: LibraryRequest.HeardList)] = [
        ("played", .played), ("history", .history), ("favourites", .favourites),
    ]
    /// The maximum number of entries in one reply, and the number for a request that names none.
    private static let (mostEntries, usualEntries) = (500, 100)

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("library-scan", .music) { _ in .later(.library(.scan)) },
        RequestForm("library-status", .music) { _ in .later(.library(.status)) },
        RequestForm("library-search", .music, ["words", "from", "count"]) { fields throws(RequestMistake) in
            .later(.library(.search(words: try fields.text("words", "words"), try page(fields))))
        },
        RequestForm("library-list", .music, ["list", "of", "from", "count"]) { fields throws(RequestMistake) in
            let index = try fields.choice("list", of: lists.map { $0.name } + heardLists.map { $0.name })
            let of = fields.has("of") ? try fields.text("of", "a number, a name, or the path of a folder") : nil
            if index >= lists.count {
                return .later(.library(.heard(heardLists[index - lists.count].list, try page(fields))))
            }
            return .later(.library(.list(lists[index].list, of: of, try page(fields))))
        },
        RequestForm("favourite", .music, ["path", "on"]) { fields throws(RequestMistake) in
            let path = try fields.value("path").map { value throws(RequestMistake) in
                try RequestFields.path(value, "path")
            }
            return .later(.library(.favourite(path: path, isOn: try fields.boolean("on"))))
        },
    ]

    static func page(_ fields: RequestFields) throws(RequestMistake) -> LibraryRequest.Page {
        LibraryRequest.Page(
            from: try fields.integer("from", in: 0...1_000_000) ?? 0,
            count: try fields.integer("count", in: 0...mostEntries) ?? usualEntries)
    }

    // MARK: Replies

    static func members(_ reply: LibraryReply) -> [Member] {
        switch reply {
        case .status(let status): members(status)
        case .entries(let part, let from): members(part, from: from)
        case .favourite(let path, let isOn):
            [Member("path", .string(path)), Member("favourite", .boolean(isOn))]
        case .found(let tracks, let from, let albums, let artists):
            [
                Member("artists", .array(artists.map { value(.name($0)) })),
                Member("albums", .array(albums.map { value(.album($0)) })),
            ] + members(tracks, from: from, bytes: 24 << 10)
        }
    }

    static func members(_ status: LibraryStatus) -> [Member] {
        [
            Member("folders", .array(status.folders.map { .string($0) })),
            Member("tracks", .integer(status.tracks)), Member("albums", .integer(status.albums)),
            Member("artists", .integer(status.artists)), Member("playlists", .integer(status.playlists)),
            Member("bytes", .integer(status.bytes)), Member("scanning", .boolean(status.progress.isRunning)),
            Member("found", JSONValue(status.progress.found)), Member("done", JSONValue(status.progress.done)),
            Member("scans", JSONValue(status.progress.finished)),
            Member("waitsFor", JSONValue(status.progress.waitsForPower ? "power" : nil)),
        ]
    }

    static func members(
        _ part: ListPart<LibraryEntry>, from: Int, bytes limit: Int = ReplyLines.pageBytes
    ) -> [Member] {
        members(total: part.total, from: from, bytes: limit, part.entries) { value($0) }
    }

    /// Returns as many entries as fit into a line, at least one.
    static func members<Entry>(
        total: Int64, from: Int, bytes limit: Int = ReplyLines.pageBytes, _ all: [Entry], _ value: (Entry) -> JSONValue
    ) -> [Member] {
        var (entries, bytes) = ([JSONValue](), 0)
        for entry in all {
            let value = value(entry)
            bytes += value.serializedLengthLimit + 1
            if bytes > limit, !entries.isEmpty { break }
            entries.append(value)
        }
        return [Member("count", .integer(total)), Member("from", JSONValue(from)), Member("entries", .array(entries))]
    }

    private static func value(_ entry: LibraryEntry) -> JSONValue {
        switch entry {
        case .music(let music): return value(music)
        case .album(let album):
            return [
                "id": .integer(album.id), "title": .string(album.title),
                "artist": JSONValue(album.artist.isEmpty ? nil : album.artist), "tracks": .integer(album.trackCount),
                "discs": .integer(album.discCount), "date": JSONValue(album.date),
            ]
        case .name(let name): return ["id": .integer(name.id), "name": .string(name.text)]
        case .folder(let path): return ["path": .string(path)]
        }
    }

    private static func value(_ music: ListedMusic) -> JSONValue {
        let (track, metadata) = (music.track, music.track?.metadata)
        var value: JSONValue = [
            "path": .string(music.path), "title": JSONValue(track?.name), "artist": JSONValue(metadata?.artist),
            "album": JSONValue(metadata?.album), "track": JSONValue(metadata?.trackNumber),
            "disc": JSONValue(metadata?.discNumber), "date": JSONValue(metadata?[.date].first),
            "duration": JSONValue(seconds: track?.duration), "favourite": .boolean(music.isFavourite),
        ]
        if let heard = music.heard { value["heard"] = .integer(heard) }
        if let plays = music.plays {
            value["plays"] = .integer(plays.count)
            value["lastPlayed"] = .integer(plays.last)
        }
        return value
    }
}
