import Database
import HTTPServer
import Library
import Media
import Platform

/// The covers of albums in the catalogue.
extension Cover {
    /// - Returns: nil for an album without a cover.
    init?(of album: Int64, _ index: MusicIndex) throws(DatabaseError) {
        // Links to covers may lead anywhere, like links to music (`ScanRules.service`).
        try self.init(ofAlbum: album, index, nil)
    }

    /// Returns the albums among `albums` that have a cover.
    static func among(_ albums: [Int64], _ index: MusicIndex) throws(DatabaseError) -> Set<Int64> {
        var (seen, found): (Set<Int64>, Set<Int64>) = ([], [])
        for album in albums where seen.insert(album).inserted {
            if try Cover(of: album, index) != nil { found.insert(album) }
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
            guard let kind = Cover.kind(of: path), let stamp = FileStamp(of: path),
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
