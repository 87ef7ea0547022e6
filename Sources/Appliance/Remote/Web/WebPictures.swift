import Database
import HTTPServer
import Library
import Media
import Platform

/// The covers of the library, for `GET /api/cover?path=…`.
///
/// Thread: the connections' threads of the web server, which block.
struct WebPictures: Sendable {
    /// How long a look into the index may take, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000
    let library: LibraryConductor?
    /// A path lies in one of these.
    let folders: MusicFolders

    /// - Parameter path: the path of a track, or of a folder with music.
    func answer(for path: String, to request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        guard folders.contains(path), let library else { throw Self.none }
        let found = Found()
        library.withIndex { index in
            found.set(index.flatMap { try? EmbeddedPicture(ofMusicAt: path, $0) })
        }
        if let picture = try found.value(within: Self.patience) {
            // A damaged one is skipped: the folder may have another one.
            if let answer = try? answer(picture, to: request) { return answer }
        }
        let folder = FileKind(at: path) == .folder ? path : FilePlace(path).folder
        guard
            let cover = CoverFile.path(
                in: FileKind(at: folder) == .file ? FilePlace(folder).folder : folder, MusicRoots(folders.paths)),
            let resource = ServedResource(file: cover, contentType: Self.type(ofFile: cover))
        else { throw Self.none }
        return resource.answer(to: request)
    }

    private static let none = WebRefusal(404, "no-cover", "there is no cover")

    private func answer(_ picture: EmbeddedPicture, to request: HTTPRequest) throws(MusicPicture.Failure) -> HTTPAnswer
    {
        guard let stamp = FileStamp(of: picture.path) else { throw .noFile }
        let body: ContentBody
        if picture.isPlain {
            let file: OpenedFile
            do throws(SystemError) { file = try OpenedFile(picture.path) } catch { throw .noFile }
            let range = picture.picture.offset..<(picture.picture.offset + picture.picture.length)
            guard range.upperBound <= file.size else { throw .unreadable("the file is shorter") }
            body = ContentBody([.file(file, range)])
        } else {
            // Safe: the answer belongs to one connection, whose thread alone reads it.
            nonisolated(unsafe) let content = try MusicPicture(picture)
            let made = MadeBytes { count, offset in (try? content.read(at: offset, count: count)) ?? [] }
            body = ContentBody([.made(made, 0..<content.size)])
        }
        let resource = ServedResource(
            body: body, contentType: Self.type(picture.picture.mediaType),
            entityTag: "\"\(stamp.text)-\(picture.picture.offset)\"", lastModified: stamp.modifiedSeconds,
            cacheControl: "no-cache")
        return resource.answer(to: request)
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

    /// The picture that the thread of queries has found. `@unchecked Sendable` is safe because the condition guards it.
    private final class Found: @unchecked Sendable {
        private let condition = Condition()
        private var isKnown = false
        private var picture: EmbeddedPicture?

        func set(_ picture: EmbeddedPicture?) {
            condition.update {
                self.picture = picture
                isKnown = true
            }
        }

        func value(within nanoseconds: Int64) throws(WebRefusal) -> EmbeddedPicture? {
            condition.wait(atMost: nanoseconds) { isKnown }
            return try condition.update { () -> Result<EmbeddedPicture?, WebRefusal> in
                isKnown ? .success(picture) : .failure(WebRefusal(504, "system", "the library did not answer in time"))
            }.get()
        }
    }
}
