import HTTPServer
import Library
import Media
import Platform
import Player

/// A picture in its own file or in a music file, with the version of that file, or a picture from the network.
package struct StoredPicture: Sendable {
    /// The file that contains the picture; for a picture from the network, its product.
    let path: String
    private let content: Content

    private enum Content {
        case file(FileStamp)
        /// The file of an offline copy's cover, whose name is the digest.
        case copy(FileStamp, digest: [UInt8])
        case embedded(FileStamp, EmbeddedPicture)
        case fetched(FetchedPicture)
    }

    /// The maximum size of a picture whose bytes are in several pieces of its file. They are joined in memory.
    private static let mostJoined: Int64 = 8 << 20

    /// - Returns: nil when there is no such file.
    package init?(file path: String) {
        guard let stamp = FileStamp(of: path) else { return nil }
        (self.path, content) = (path, .file(stamp))
    }

    /// Opens the cover of an offline copy.
    /// - Returns: nil when there is no such file.
    init?(ofCopy path: String) {
        guard let stamp = FileStamp(of: path), let digest = Hexadecimal.bytes(FilePlace(path).file) else { return nil }
        (self.path, content) = (path, .copy(stamp, digest: digest))
    }

    /// - Parameter product: for the log.
    package init(_ picture: FetchedPicture, of product: String) { (path, content) = (product, .fetched(picture)) }

    /// - Returns: nil when the music file is gone.
    package init?(_ picture: EmbeddedPicture) {
        guard let stamp = FileStamp(of: picture.path) else { return nil }
        (path, content) = (picture.path, .embedded(stamp, picture))
    }

    /// The identity of the picture by its location in a file, or by its bytes; nil if memory is missing.
    package var identity: PictureIdentity? {
        switch content {
        case .file(let stamp): PictureIdentity(of: [path, stamp.text, "\(stamp.state)", ""])
        case .embedded(let stamp, let embedded):
            PictureIdentity(of: [
                path, stamp.text, "\(stamp.state)", "\(embedded.picture.offset) \(embedded.picture.length)",
            ])
        case .copy(_, let digest): PictureIdentity(digest: digest)
        case .fetched(let picture): PictureIdentity(digest: picture.digest)
        }
    }

    // MARK: For the program

    /// Opens the picture, and calls `use` with a descriptor of its file and the picture's range in the file.
    /// - Throws: `.tooLarge` for a large picture in pieces; other errors when the picture cannot be read.
    func withRange<Result>(
        _ use: (_ descriptor: Int32, _ offset: Int64, _ length: Int64) -> Result
    ) throws(Unusable) -> Result {
        switch content {
        case .fetched(let picture): return use(picture.descriptor, 0, Int64(picture.length))
        case .embedded(_, let embedded) where !embedded.isPlain:
            let (joined, length) = try Self.joined(embedded)
            return use(joined.file.descriptor, 0, length)
        case .embedded(_, let embedded):
            let (file, length) = try opened()
            let picture = embedded.picture
            guard picture.offset >= 0, 0...length ~= picture.length, picture.offset <= length - picture.length else {
                throw .unreadable
            }
            return use(file.file.descriptor, picture.offset, picture.length)
        case .file, .copy:
            let (file, length) = try opened()
            return use(file.file.descriptor, 0, length)
        }
    }

    private func opened() throws(Unusable) -> (OpenedFile, length: Int64) {
        do throws(SystemError) {
            let file = try OpenedFile(path)
            return (file, file.size)
        } catch {
            throw .unreadable
        }
    }

    enum Unusable: Error { case unreadable, tooLarge, noMemory }

    private final class Joined {
        let file: MemoryFile
        init() throws(SystemError) { file = try MemoryFile("picture") }
    }

    private static func joined(_ embedded: EmbeddedPicture) throws(Unusable) -> (Joined, length: Int64) {
        let picture: MusicPicture
        do throws(MusicPicture.Failure) { picture = try MusicPicture(embedded) } catch { throw .unreadable }
        guard picture.size <= mostJoined else { throw .tooLarge }
        do throws(SystemError) {
            let joined = try Joined()
            var done: Int64 = 0
            while done < picture.size {
                guard let bytes = try? picture.read(at: done, count: 64 << 10), !bytes.isEmpty else {
                    throw SystemError(code: 5, operation: "read", subject: embedded.path)
                }
                try joined.file.write(bytes, at: done)
                done += Int64(bytes.count)
            }
            return (joined, done)
        } catch {
            throw error.code == 5 ? .unreadable : .noMemory
        }
    }

    // MARK: For clients

    /// Returns the whole picture, unchanged.
    package func resource() throws(MusicPicture.Failure) -> ServedResource {
        switch content {
        case .file: return try resource(Self.type(ofFile: path))
        case .copy: return try resource(Cover.kind(of: path)?.mediaType ?? Self.type(nil))
        case .embedded(let stamp, let embedded): return try Self.resource(embedded, stamp)
        case .fetched(let picture):
            let made = MadeBytes { count, offset in picture.read(count, at: Int(clamping: offset)) }
            return ServedResource(
                body: ContentBody([.made(made, 0..<Int64(picture.length))]), contentType: picture.kind.mediaType,
                entityTag: "\"\(hexadecimal(picture.digest))\"", cacheControl: "no-cache")
        }
    }

    private func resource(_ contentType: String) throws(MusicPicture.Failure) -> ServedResource {
        guard let resource = ServedResource(file: path, contentType: contentType) else { throw .noFile }
        return resource
    }

    private static func resource(
        _ embedded: EmbeddedPicture, _ stamp: FileStamp
    ) throws(MusicPicture.Failure) -> ServedResource {
        let path = embedded.path
        let body: ContentBody
        if embedded.isPlain {
            let file: OpenedFile
            do throws(SystemError) { file = try OpenedFile(path) } catch { throw .noFile }
            let range = embedded.picture.offset..<(embedded.picture.offset + embedded.picture.length)
            guard range.upperBound <= file.size else { throw .unreadable("the file is shorter") }
            body = ContentBody([.file(file, range)])
        } else {
            // Safe: the answer belongs to one connection, whose thread alone reads it.
            nonisolated(unsafe) let content = try MusicPicture(embedded)
            let made = MadeBytes { count, offset in (try? content.read(at: offset, count: count)) ?? [] }
            body = ContentBody([.made(made, 0..<content.size)])
        }
        return ServedResource(
            body: body, contentType: type(embedded.picture.mediaType),
            entityTag: "\"\(stamp.text)-\(embedded.picture.offset)\"", lastModified: stamp.modifiedSeconds,
            cacheControl: "no-cache")
    }

    /// The media types of pictures that browsers show. Other types are sent as plain bytes, because a tag may name any
    /// type.
    private static let types = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/jxl"]

    private static func type(_ named: String?) -> String {
        types.first { $0.utf8.elementsEqual((named ?? "").utf8) }
            ?? (named.map { $0.utf8.elementsEqual("image/jpg".utf8) } == true ? types[0] : "application/octet-stream")
    }

    private static func type(ofFile path: String) -> String {
        let ending = path.utf8.map { $0.lowercased }
        func ends(_ text: String) -> Bool { ending.suffix(text.utf8.count).elementsEqual(text.utf8) }
        return ends(".png") ? types[1] : ends(".webp") ? types[2] : ends(".jxl") ? types[4] : types[0]
    }
}
