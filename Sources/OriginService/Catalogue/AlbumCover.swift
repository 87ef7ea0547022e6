import Database
import HTTPServer
import Library
import Media
import Platform

/// The cover of an album, by the rules of local music: the picture in the first track that has one, else the one in the
/// folder of the first track.
enum AlbumCover {
    case embedded(EmbeddedPicture)
    /// The path of a picture.
    case file(String)

    /// - Returns: nil for an album without a cover.
    init?(of album: Int64, _ index: MusicIndex) throws(DatabaseError) {
        if let picture = try EmbeddedPicture(ofAlbum: album, index) {
            self = .embedded(picture)
            return
        }
        let first = try index.tracks(ofAlbum: album, ListPage(limit: 1)).entries.first
        // Links may lead anywhere, as those of music (`ScanRules.service`).
        guard let first, let path = FolderPicture.path(in: FilePlace(first.path).folder, nil) else { return nil }
        self = .file(path)
    }

    /// Returns those of `albums` that have a cover.
    static func among(_ albums: [Int64], _ index: MusicIndex) throws(DatabaseError) -> Set<Int64> {
        var (seen, found): (Set<Int64>, Set<Int64>) = ([], [])
        for album in albums where seen.insert(album).inserted {
            if try AlbumCover(of: album, index) != nil { found.insert(album) }
        }
        return found
    }

    /// The reference in the catalogue, relative to the service's address.
    static func reference(_ album: Int64) -> String { "v1/albums/\(album)/cover" }

    private static let keptForAnHour = "private, max-age=3600"

    /// - Returns: nil when the picture cannot be read now.
    var resource: ServedResource? {
        switch self {
        case .file(let path):
            guard let kind = FolderPicture.kind(of: path), let stamp = FileStamp(of: path),
                let file = try? OpenedFile(path)
            else { return nil }
            return Self.resource(ContentBody([.file(file, 0..<file.size)]), kind, stamp)
        case .embedded(let picture):
            guard let stamp = FileStamp(of: picture.path), let file = try? OpenedFile(picture.path),
                let content = try? PictureBytes(of: picture.picture, in: file)
            else { return nil }
            // Safe: the answer belongs to one connection, whose thread alone reads it.
            nonisolated(unsafe) let bytes = content
            let made = MadeBytes { count, offset in (try? bytes.read(count, at: offset)) ?? [] }
            guard let start = try? bytes.read(PictureKind.beginning, at: 0), let kind = PictureKind(start) else {
                return nil
            }
            return Self.resource(
                ContentBody([.made(made, 0..<bytes.size)]), kind, stamp, "-\(picture.picture.offset)")
        }
    }

    private static func resource(
        _ body: ContentBody, _ kind: PictureKind, _ stamp: FileStamp, _ part: String = ""
    ) -> ServedResource {
        ServedResource(
            body: body, contentType: kind.mediaType, entityTag: "\"\(stamp.text)\(part)\"",
            lastModified: stamp.modifiedSeconds, cacheControl: keptForAnHour)
    }
}
