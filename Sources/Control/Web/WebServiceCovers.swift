import Appliance
import HTTPServer
import Platform
import Player

/// The covers of the content service's products, for `GET /api/cover?uri=…`
/// (docs/decisions/covers-of-the-service.md).
extension WebPictures {
    /// - Parameters:
    ///   - uri: `tonearm:track/ID`, `tonearm:album/ID` or `tonearm:playlist/ID`.
    ///   - side: the maximum number of pixels of a side; nil for the whole picture.
    func answer(forProduct uri: String, _ side: Int?, to request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        guard let entry = CatalogueEntry(uri) else {
            throw WebRefusal(
                400, "bad-request", "uri must be tonearm:track/ID, tonearm:album/ID or tonearm:playlist/ID")
        }
        guard let covers else { throw Self.none }
        if let copy = covers.copy(of: entry), let answer = try answer(copy, side, to: request) { return answer }
        let key = covers.picture(of: entry).flatMap { known in
            side.map { (key: ThumbnailKey(picture: known.picture, side: $0), isRecent: known.isRecent) }
        }
        let result = key.flatMap { thumbnails.known($0.key) }
        if let key, key.isRecent {
            switch result {
            case .made(let thumbnail): return Self.answer(thumbnail, key.key, to: request)
            case .refused(let refusal): throw Self.refusal(refusal)
            default: break
            }
        }
        switch covers.fetch(entry) {
        case .picture(let picture):
            guard let answer = try answer(StoredPicture(picture, of: uri), side, to: request) else { throw Self.none }
            return answer
        case .failed(let failure):
            // Sends the last known cover instead of a failure.
            if failure != .none, let key, case .made(let thumbnail) = result {
                return Self.answer(thumbnail, key.key, to: request)
            }
            throw WebRefusal(failure)
        }
    }
}

extension WebRefusal {
    init(_ failure: CoverFailure) {
        switch failure {
        case .none: self = WebPictures.none
        case .unusable: self.init(422, "bad-cover", "the cover cannot be used: \(failure.reason)")
        case .slow: self.init(504, "system", "the cover was not fetched: \(failure.reason)")
        case .away: self.init(503, "system", "the cover was not fetched: \(failure.reason)")
        }
        if !failure.lasts { retryAfter = 5 }
    }
}
