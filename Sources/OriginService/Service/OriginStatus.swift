import Database
import Library
import Platform

/// The contents of an origin, from its index. The origin may be running meanwhile.
public struct OriginStatus: Sendable {
    /// A playlist file, and the lines in it that name no file of the music folder.
    public struct Playlist: Equatable, Sendable {
        public var path: String
        public var title: String
        public var entryCount: Int
        public var missing: [String]
    }

    public private(set) var trackCount = 0
    public private(set) var albumCount = 0
    public private(set) var playlists: [Playlist] = []

    /// - Throws: when there is no index, or it cannot be read.
    public init(stateFolder: String) throws(ContentOrigin.Failure) {
        let path = "\(stateFolder)/index.db"
        guard FileKind(at: path) == .file else {
            throw ContentOrigin.Failure(
                description: "\(path): there is no index. Has tonearm-origin served a folder with this --state?")
        }
        do throws(DatabaseError) {
            let index = try MusicIndex(in: stateFolder)
            try index.read { (reader) throws(DatabaseError) in try read(reader) }
        } catch {
            throw ContentOrigin.Failure(description: "\(path): \(error.description)")
        }
    }

    private mutating func read(_ reader: IndexReader) throws(DatabaseError) {
        trackCount = Int(try reader.count(.tracks))
        albumCount = Int(try reader.count(.albums))
        playlists = try reader.playlistContents().map { playlist in
            Playlist(
                path: playlist.path, title: playlist.title, entryCount: playlist.entryCount, missing: playlist.missing)
        }
    }

    /// The text for the user.
    public var text: String {
        var lines = ["\(trackCount) tracks, \(albumCount) albums, \(playlists.count) playlists"]
        for playlist in playlists where !playlist.missing.isEmpty {
            lines.append(
                "\(playlist.path): \(playlist.missing.count) of \(playlist.entryCount) entries are not in the folder:")
            lines += playlist.missing.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    /// The JSON for programs.
    public var json: String {
        JSONValue.object([
            .init("tracks", .integer(Int64(trackCount))), .init("albums", .integer(Int64(albumCount))),
            .init(
                "playlists",
                .array(
                    playlists.map { playlist in
                        .object([
                            .init("path", .string(playlist.path)), .init("title", .string(playlist.title)),
                            .init("entries", .integer(Int64(playlist.entryCount))),
                            .init("missing", .array(playlist.missing.map { .string($0) })),
                        ])
                    })),
        ]).serialized()
    }
}
