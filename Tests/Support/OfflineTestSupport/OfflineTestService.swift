import Foundation
import Network
import Platform

@testable import Fetching
@testable import Player

/// A content service with files of known bytes, which a test makes misbehave.
///
/// Thread: any; answers come inside the calls.
// @unchecked: `lock` guards the mutable state.
public final class OfflineTestService: ServiceNetwork, @unchecked Sendable {
    /// A request for content, as it came.
    public struct ContentRequest: Equatable, Sendable {
        public var product: String
        public var from: Int
        public var ifRange: String?
    }

    /// The properties that answers claim for their content.
    public struct Received: Sendable {
        public var product: String
        public var quality = "LOSSLESS"
        public var mode = "STEREO"
        public var presentation = "FULL"

        /// - Parameter product: its id at the service.
        public init(_ product: String) { self.product = product }
    }

    private let lock = NSRecursiveLock()
    private var received: [String: Received] = [:]
    private var files: [String: [UInt8]] = [:]
    private var hashes: [String: String] = [:]
    private var infos: [String] = []
    private var requested: [ContentRequest] = []
    private var running: [Serving] = []
    private var hanging = 0
    private var delayed: [@Sendable () -> Void] = []
    private var dates: (revalidateAt: Int64?, validUntil: Int64?) = (nil, nil)
    private var limit: Int?
    private var refusal: (status: Int, subStatus: Int)?
    private var page: Int?
    private var contentRefusals: [Int] = []
    private var refusesAsService = true
    private var tellsLengths = true
    private var heedsIfRange = true
    /// The delay in seconds, sent with each refusal; nil: refusals do not contain it.
    private var retryAfter: Int?
    private var losses = 0
    /// Products whose playbackinfo does not arrive.
    private var silent: [String: Silence] = [:]

    /// How the service fails for one product.
    public enum Silence: Sendable {
        /// The connection is lost before an answer.
        case lost
        /// 503, with a Retry-After of an hour.
        case busy
    }

    public init() {}

    // MARK: For tests

    /// - Parameter product: the id of a track; for a video `video-ID`.
    public func serve(_ file: [UInt8], as product: String, hash: String = "h1") {
        lock.withLock {
            files[product] = file
            hashes[product] = hash
        }
    }

    /// Answers about a product give something else instead from now on. The file stays that of `serve`.
    public func give(_ other: Received, for product: String) { lock.withLock { received[product] = other } }

    /// Sets the dates in answers for offline use.
    public func setDates(revalidateAt: Int64?, validUntil: Int64?) {
        lock.withLock { dates = (revalidateAt, validUntil) }
    }

    /// Removes the lengths from answers.
    public func hideLengths() { lock.withLock { tellsLengths = false } }

    /// Answers a range request with a part even when If-Range names another version.
    public func ignoreIfRange() { lock.withLock { heedsIfRange = false } }

    /// Content stops after so many bytes of each answer, without an end; nil: it does not.
    public func hang(after bytes: Int?) { lock.withLock { limit = bytes } }

    /// Continues transfers that have stopped in the middle.
    public func release() {
        let stopped = lock.withLock {
            limit = nil
            return running.filter { $0.isHanging }
        }
        for serving in stopped { serving.release() }
    }

    /// Playbackinfo is answered with a web page of this status from now on; nil: it is not.
    public func showPage(_ status: Int?) { lock.withLock { page = status } }

    /// Refuses playbackinfo from now on; nil: no more.
    /// - Parameter retryAfter: of all refusals, in seconds; nil: refusals do not contain it.
    public func refuse(_ status: Int?, subStatus: Int = 0, retryAfter: Int? = nil) {
        lock.withLock {
            refusal = status.map { ($0, subStatus) }
            self.retryAfter = retryAfter
        }
    }

    /// The next requests for content are refused with these statuses, one after the other.
    /// - Parameters:
    ///   - retryAfter: of all refusals, in seconds; nil: refusals do not contain it.
    ///   - asService: whether they have the form of the service, and not that of a filter.
    public func refuseContent(_ statuses: [Int], retryAfter: Int? = nil, asService: Bool = true) {
        lock.withLock {
            contentRefusals = statuses
            refusesAsService = asService
            self.retryAfter = retryAfter
        }
    }

    /// The connections of the next so many requests for content are lost before an answer.
    public func loseContent(_ count: Int) { lock.withLock { losses = count } }

    /// Playbackinfo of one product does not come from now on.
    public func fall(_ silence: Silence, for product: String) { lock.withLock { silent[product] = silence } }

    public var infoRequests: Int { infoAddresses.count }
    /// The addresses of the requests for playbackinfo, in their order.
    public var infoAddresses: [String] { lock.withLock { infos } }
    public var contentRequests: [ContentRequest] { lock.withLock { requested } }
    /// Transfers of content that have stopped in the middle and are not cancelled.
    public var hangingTransfers: Int { lock.withLock { running.count { $0.isHanging } } }
    /// Transfers of content whose receiver has paused them and has not resumed them yet.
    public var pausedTransfers: Int { lock.withLock { running.count { $0.isPaused } } }

    /// Lets the delays of retries pass.
    /// - Returns: whether there was one. A status may show a delay a moment before it is there.
    @discardableResult
    public func passDelays() -> Bool {
        let due = lock.withLock {
            defer { delayed = [] }
            return delayed
        }
        for action in due { action() }
        return !due.isEmpty
    }

    // MARK: ServiceNetwork

    public func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let serving = Serving(request, sink, lock)
        if request.url.contains("/playbackinfo?") {
            let (answer, silence) = lock.withLock {
                infos.append(request.url)
                return (info(request.url), silent[String(request.url.split(separator: "/")[4])])
            }
            switch silence {
            case .lost: serving.fail(.connection(.lost))
            case .busy: serving.answer(503, [("Retry-After", "3600")], [])
            case nil: break
            }
            if silence != nil { return serving }
            serving.answer(answer.status, refusalHeaders(answer.status), Array(answer.body.utf8))
            return serving
        }
        let name = String(request.url.split(separator: "/").last ?? "")
        let isLost: Bool = lock.withLock {
            guard losses > 0 else { return false }
            losses -= 1
            return true
        }
        if isLost {
            serving.fail(.connection(.lost))
            return serving
        }
        let answer: (status: Int, file: [UInt8], etag: String, limit: Int?) = lock.withLock {
            requested.append(
                ContentRequest(
                    product: name, from: Int(request.range?.from ?? 0),
                    ifRange: request.headers.first { $0.isNamed("if-range") }?.value))
            running.append(serving)
            let status = contentRefusals.isEmpty ? 200 : contentRefusals.removeFirst()
            return (status, files[name] ?? [], "\"\(hashes[name] ?? "")\"", limit)
        }
        guard answer.status == 200, !answer.file.isEmpty else {
            let status = answer.status == 200 ? 404 : answer.status
            let body = lock.withLock { refusesAsService } ? #"{"status": \#(status)}"# : "<p>blocked"
            serving.answer(status, refusalHeaders(status), Array(body.utf8))
            return serving
        }
        let from = Int(request.range?.from ?? 0)
        let isSame = request.headers.first { $0.isNamed("if-range") }.map { $0.value == answer.etag } ?? true
        if from > 0, isSame || !lock.withLock({ heedsIfRange }) {
            serving.begin(
                206,
                [
                    ("Content-Range", "bytes \(from)-\(answer.file.count - 1)/\(answer.file.count)"),
                    ("ETag", answer.etag),
                ])
            serving.deliver(Array(answer.file[from...]), upTo: answer.limit)
        } else {
            let length = lock.withLock { tellsLengths } ? [("Content-Length", "\(answer.file.count)")] : []
            serving.begin(200, length + [("ETag", answer.etag)])
            serving.deliver(answer.file, upTo: answer.limit)
        }
        return serving
    }

    public func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        if nanoseconds == 0 { return action() }
        lock.withLock { delayed.append(action) }
    }

    public func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        schedule(after: nanoseconds) { action(.timeElapsed) }
    }

    private func refusalHeaders(_ status: Int) -> [(String, String)] {
        guard status != 200, let seconds = lock.withLock({ retryAfter }) else { return [] }
        return [("Retry-After", "\(seconds)")]
    }

    private func info(_ url: String) -> (status: Int, body: String) {
        if let page { return (page, "<!DOCTYPE html><title>Welcome to the hotel</title>") }
        if let refusal {
            return (refusal.status, #"{"status": \#(refusal.status), "subStatus": \#(refusal.subStatus)}"#)
        }
        let words = url.split(separator: "/")
        let (isVideo, id) = (words[3] == "videos", String(words[4]))
        let name = isVideo ? "video-\(id)" : id
        guard files[name] != nil else { return (404, "{}") }
        let given = received[name] ?? Received(id)
        let content =
            isVideo
            ? #""videoId": \#(given.product), "streamType": "ON_DEMAND", "videoQuality": "HIGH""#
            : #""trackId": \#(given.product), "audioMode": "\#(given.mode)", "audioQuality": "\#(given.quality)""#
        let manifest = """
            {"mimeType": "audio/flac", "codecs": "flac", "encryptionType": "NONE", "urls": ["https://content/\(name)"]}
            """
        var body = """
            {\(content), "assetPresentation": "\(given.presentation)",
             "manifestMimeType": "application/vnd.tidal.bts", "manifestHash": "\(hashes[name] ?? "")",
             "trackReplayGain": -3.5, "trackPeakAmplitude": 0.5,
             "manifest": "\(Data(manifest.utf8).base64EncodedString())"
            """
        if let time = dates.revalidateAt { body += #", "offlineRevalidateAt": \#(time)"# }
        if let time = dates.validUntil { body += #", "offlineValidUntil": \#(time)"# }
        return (200, body + "}")
    }
}

/// One answer. It stops when its receiver has enough.
// @unchecked: `lock`, which is the service's, guards the mutable state.
private final class Serving: OngoingTransfer, @unchecked Sendable {
    private let request: TransferRequest
    private let sink: any TransferSink
    private let lock: NSRecursiveLock
    private var rest: [UInt8] = []
    private var left = Int.max
    private var isOver = false
    private(set) var isHanging = false
    private(set) var isPaused = false

    init(_ request: TransferRequest, _ sink: any TransferSink, _ lock: NSRecursiveLock) {
        (self.request, self.sink, self.lock) = (request, sink, lock)
    }

    func cancel() { end(.cancelled) }

    func resume() { flow() }

    func release() {
        lock.withLock {
            isHanging = false
            left = .max
        }
        flow()
    }

    func answer(_ status: Int, _ headers: [(String, String)], _ body: [UInt8]) {
        begin(status, headers)
        _ = body.withUnsafeBytes { sink.received($0) }
        end(nil)
    }

    func fail(_ error: TransferError) { end(error) }

    func begin(_ status: Int, _ headers: [(String, String)]) {
        sink.began(
            ResponseHead(status: status, headers: headers.map { HeaderField($0.0, $0.1) }, effectiveURL: request.url))
    }

    func deliver(_ bytes: [UInt8], upTo limit: Int?) {
        lock.withLock {
            rest = bytes
            left = limit ?? .max
        }
        flow()
    }

    private func flow() {
        let isAtEnd = lock.withLock {
            while !isOver, !rest.isEmpty {
                let piece = Array(rest.prefix(min(16_384, left)))
                guard !piece.isEmpty else {
                    isHanging = true
                    return false
                }
                isPaused = piece.withUnsafeBytes({ sink.received($0) }) != .more
                if isPaused { return false }
                rest.removeFirst(piece.count)
                left -= piece.count
            }
            return true
        }
        if isAtEnd { end(nil) }
    }

    private func end(_ error: TransferError?) {
        let isFirst = lock.withLock {
            defer {
                isOver = true
                isHanging = false
                isPaused = false
            }
            return !isOver
        }
        if isFirst { sink.ended(error) }
    }
}
