import HTTPServer
import Library
import Media
import Platform

/// A picture with the version of its file: in a file of its own, or in a music file.
struct StoredPicture: Sendable {
    /// The file that has the picture.
    let path: String
    private let stamp: FileStamp
    /// nil for a file of its own.
    private let embedded: EmbeddedPicture?

    /// The most bytes of a picture that is not in one piece in its file: they are put together in memory.
    private static let mostJoined: Int64 = 8 << 20

    /// - Returns: nil when there is no such file.
    init?(file path: String) {
        guard let stamp = FileStamp(of: path) else { return nil }
        (self.path, self.stamp, embedded) = (path, stamp, nil)
    }

    /// - Returns: nil when the music file is gone.
    init?(_ picture: EmbeddedPicture) {
        guard let stamp = FileStamp(of: picture.path) else { return nil }
        (path, self.stamp, embedded) = (picture.path, stamp, picture)
    }

    /// The identity of the picture by its place; nil without memory.
    var identity: PictureIdentity? {
        let range = embedded.map { "\($0.picture.offset) \($0.picture.length)" } ?? ""
        return PictureIdentity(of: [path, stamp.text, "\(stamp.state)", range])
    }

    // MARK: For the program

    /// Opens the picture: calls `use` with a descriptor of its file, and the range in it.
    /// - Throws: `.tooLarge` of a picture in pieces, and when it cannot be read.
    func withRange<Result>(
        _ use: (_ descriptor: Int32, _ offset: Int64, _ length: Int64) -> Result
    ) throws(Unusable) -> Result {
        guard let embedded, !embedded.isPlain else {
            guard let file = try? File(reading: path), let length = try? file.length() else { throw .unreadable }
            guard let picture = embedded?.picture else { return use(file.descriptor, 0, length) }
            guard picture.offset >= 0, 0...length ~= picture.length, picture.offset <= length - picture.length else {
                throw .unreadable
            }
            return use(file.descriptor, picture.offset, picture.length)
        }
        let (joined, length) = try Self.joined(embedded)
        return use(joined.file.descriptor, 0, length)
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

    /// Returns the whole picture, as it is.
    func resource() throws(MusicPicture.Failure) -> ServedResource {
        guard let embedded else {
            guard let resource = ServedResource(file: path, contentType: Self.type(ofFile: path)) else {
                throw .noFile
            }
            return resource
        }
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
            body: body, contentType: Self.type(embedded.picture.mediaType),
            entityTag: "\"\(stamp.text)-\(embedded.picture.offset)\"", lastModified: stamp.modifiedSeconds,
            cacheControl: "no-cache")
    }

    /// The media types of pictures that browsers show. Anything else is sent as bytes: a tag may name any type.
    private static let types = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/jxl"]

    private static func type(_ named: String?) -> String {
        types.first { $0.utf8.elementsEqual((named ?? "").utf8) }
            ?? (named.map { $0.utf8.elementsEqual("image/jpg".utf8) } == true ? types[0] : "application/octet-stream")
    }

    private static func type(ofFile path: String) -> String {
        let ending = WebGuard.lowercased(path).utf8
        func ends(_ text: String) -> Bool { ending.suffix(text.utf8.count).elementsEqual(text.utf8) }
        return ends(".png") ? types[1] : ends(".webp") ? types[2] : ends(".jxl") ? types[4] : types[0]
    }
}
