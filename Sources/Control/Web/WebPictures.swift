import Appliance
import Database
import HTTPServer
import Library
import Platform

/// The covers of the library, for `GET /api/cover?path=…`, and those of the content service (`WebServiceCovers`).
///
/// Thread: those of the web server's connections, which may block.
struct WebPictures: Sendable {
    /// The maximum time of a query to the index, in nanoseconds.
    private static let patience: Int64 = 5_000_000_000
    let library: LibraryConductor?
    /// The folders in which a requested path must be.
    let folders: MusicFolders
    let thumbnails: Thumbnails
    /// The covers of the content service; nil without one.
    var covers: FetchedCovers?

    func answer(to request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        let side = try Self.side(request.query["size"])
        switch (request.query["path"], request.query["uri"]) {
        case (let path?, nil): return try answer(for: path, side, to: request)
        case (nil, let uri?): return try answer(forProduct: uri, side, to: request)
        default:
            throw WebRefusal(
                400, "bad-request",
                "one of path and uri is needed: the path of a track or a folder, or tonearm:track/ID")
        }
    }

    /// - Parameters:
    ///   - path: the path of a track, or of a folder with music.
    ///   - side: the maximum number of pixels of a side; nil for the whole picture.
    private func answer(for path: String, _ side: Int?, to request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        guard folders.contains(path), let library else { throw Self.none }
        let found = Found()
        library.withIndex { index in
            found.set(index.flatMap { try? EmbeddedPicture(ofMusicAt: path, $0) })
        }
        var refusal = Self.none
        if let picture = try found.value(within: Self.patience).flatMap({ StoredPicture($0) }) {
            // A damaged picture is skipped, because the folder may have another one.
            do throws(WebRefusal) {
                if let answer = try answer(picture, side, to: request) { return answer }
            } catch {
                guard error.status == 422 else { throw error }
                refusal = error
            }
        }
        let folder = FileKind(at: path) == .folder ? path : FilePlace(path).folder
        guard let cover = Cover.file(in: folder, MusicRoots(folders.paths)), let picture = StoredPicture(file: cover),
            let answer = try answer(picture, side, to: request)
        else { throw refusal }
        return answer
    }

    static let none = WebRefusal(404, "no-cover", "there is no cover")

    /// - Returns: nil when the picture cannot be read.
    func answer(
        _ picture: StoredPicture, _ side: Int?, to request: HTTPRequest
    ) throws(WebRefusal) -> HTTPAnswer? {
        if let side {
            guard let identity = picture.identity else { throw Self.busy }
            let key = ThumbnailKey(picture: identity, side: side)
            switch thumbnails.thumbnail(of: picture, key) {
            case .made(let thumbnail): return Self.answer(thumbnail, key, to: request)
            case .refused(let refusal): throw Self.refusal(refusal)
            case .failed: throw Self.busy
            case .unreadable: return nil
            // Without thumbnails, sends the whole picture.
            case .off: break
            }
        }
        do throws(MusicPicture.Failure) { return try picture.resource().answer(to: request) } catch { return nil }
    }

    static func refusal(_ refusal: PictureRefusal) -> WebRefusal {
        WebRefusal(422, "bad-cover", "there is no small form of the cover: \(refusal.reason)")
    }

    static func answer(_ thumbnail: Thumbnail, _ key: ThumbnailKey, to request: HTTPRequest) -> HTTPAnswer {
        let resource = ServedResource(
            body: ContentBody(thumbnail.bytes), contentType: "image/jpeg",
            entityTag: "\"\(key.picture.text)-\(key.side)\"", cacheControl: "private, max-age=600")
        var answer = resource.answer(to: request)
        answer.headers += [
            HTTPField("Tonearm-Width", "\(thumbnail.width)"), HTTPField("Tonearm-Height", "\(thumbnail.height)"),
        ]
        return answer
    }

    private static let busy: WebRefusal = {
        var refusal = WebRefusal(503, "system", "the small form of the cover was not made in time: ask again")
        refusal.retryAfter = 5
        return refusal
    }()

    private static func side(_ text: String?) throws(WebRefusal) -> Int? {
        guard let text else { return nil }
        guard let side = ThumbnailKey.sides.first(where: { "\($0)".utf8.elementsEqual(text.utf8) }) else {
            throw WebRefusal(400, "bad-request", "size must be 64, 160, 320 or 640: the most pixels of a side")
        }
        return side
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
