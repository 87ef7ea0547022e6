import Appliance
import Library
import Platform

/// Requests about stored playlists and their replies, as JSON. `docs/control.md` documents them.
enum PlaylistJSON {
    typealias Member = JSONValue.Member

    private static let name = "the name of a playlist"

    // Safe: built once, never changed, and its closures capture nothing.
    nonisolated(unsafe) static let forms = [
        RequestForm("playlists", .music, ["from", "count"]) { fields throws(RequestMistake) in
            .later(.playlist(.all(try LibraryJSON.page(fields))))
        },
        RequestForm("playlist", .music, ["name", "from", "count"]) { fields throws(RequestMistake) in
            .later(.playlist(.entries(of: try fields.text("name", name), try LibraryJSON.page(fields))))
        },
        RequestForm("playlist-save", .music, ["name", "replace"]) { fields throws(RequestMistake) in
            .later(
                .playlist(
                    .save(try fields.text("name", name), replaces: try fields.boolean("replace") ?? false)))
        },
        RequestForm("playlist-add", .music, ["name", "products"]) { fields throws(RequestMistake) in
            .music(try fields.paths("products"), for: .playlist(try fields.text("name", name)))
        },
        RequestForm("playlist-remove", .music, ["name", "from", "count"]) { fields throws(RequestMistake) in
            let from = try index("from", fields)
            let count = try fields.integer("count", in: 0...PlaylistFolder.mostEntries) ?? 1
            return .later(.playlist(.remove(from..<(from + count), of: try fields.text("name", name))))
        },
        RequestForm("playlist-move", .music, ["name", "from", "index"]) { fields throws(RequestMistake) in
            .later(
                .playlist(
                    .move(
                        from: try index("from", fields), to: try index("index", fields),
                        of: try fields.text("name", name))))
        },
        RequestForm("playlist-rename", .music, ["name", "to"]) { fields throws(RequestMistake) in
            .later(.playlist(.rename(try fields.text("name", name), to: try fields.text("to", name))))
        },
        RequestForm("playlist-delete", .music, ["name"]) { fields throws(RequestMistake) in
            .later(.playlist(.delete(try fields.text("name", name))))
        },
    ]

    private static func index(_ field: String, _ fields: RequestFields) throws(RequestMistake) -> Int {
        guard let index = try fields.integer(field, in: 0...PlaylistFolder.mostEntries) else {
            throw .missing(field: field, allowed: "a whole number from 0 on")
        }
        return index
    }

    static func members(_ reply: PlaylistReply) -> [Member] {
        switch reply {
        case .done: []
        case .all(let part, let from):
            LibraryJSON.members(total: part.total, from: from, part.entries) { playlist in
                ["name": .string(playlist.name), "modified": .integer(playlist.modified)]
            }
        case .entries(let part, let from, let path):
            [Member("path", .string(path))] + LibraryJSON.members(part, from: from)
        case .added(let count, let skipped):
            [Member("added", JSONValue(count)), Member("skipped", JSONValue(skipped))]
        case .removed(let count): [Member("removed", JSONValue(count))]
        }
    }
}
