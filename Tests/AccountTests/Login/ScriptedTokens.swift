import Network
import Platform
import TestSupport

@testable import Account
@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

/// A token endpoint as a function of requests, and a catalogue that takes no token. No time passes in its waits.
// @unchecked: `lock` guards the mutable state; the rest is set before it is used.
final class ScriptedTokens: LoginNetwork, @unchecked Sendable {
    /// A wait, in milliseconds.
    enum Wait: Equatable, Sendable {
        case time(Int64)
        /// A wait that another link ends.
        case link(Int64)
    }

    let waits = Recorder<Wait>()
    /// Called in each wait: how it ends.
    var waiting: @Sendable (Wait) -> LinkWaitEnd? = { _ in .timeElapsed }
    /// The delay in the answers.
    var retryAfter: Int64?
    private let lock = Lock()
    private var requests: [String] = []
    private var changes: UInt32 = 0
    private let answer: @Sendable (_ count: Int) -> Result<(status: Int, body: String), TransferError>

    init(_ answer: @escaping @Sendable (_ count: Int) -> Result<(status: Int, body: String), TransferError>) {
        self.answer = answer
    }

    /// Whether each request may use a metered link.
    let permissions = Recorder<Bool>()

    /// The bodies of the requests so far.
    var bodies: [String] { lock.withLock { requests } }

    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response {
        guard !cancellation.isCancelled else { throw .cancelled }
        guard case .post(let sent, _) = request.method else {
            return Response(head: ResponseHead(status: 401, effectiveURL: request.url), body: [])
        }
        permissions.record(request.mayUseMeteredLink)
        let count = lock.withLock {
            requests.append(String(decoding: sent, as: UTF8.self))
            return requests.count
        }
        let (status, body) = try answer(count).get()
        let headers = retryAfter.map { [HeaderField("Retry-After", "\($0)")] } ?? []
        return Response(
            head: ResponseHead(status: status, headers: headers, effectiveURL: request.url), body: Array(body.utf8))
    }

    var linkChanges: UInt32 { lock.withLock { changes } }

    /// There is another link.
    func changeLink() { lock.withLock { changes += 1 } }

    func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool {
        end(of: .time(nanoseconds / 1_000_000), cancellation) == nil
    }

    func waitForLink(since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation) -> LinkWaitEnd? {
        let end = end(of: .link(nanoseconds / 1_000_000), cancellation)
        return end == .timeElapsed && linkChanges != seen ? .linkChanged : end
    }

    private func end(of wait: Wait, _ cancellation: Cancellation) -> LinkWaitEnd? {
        waits.record(wait)
        let end = waiting(wait)
        return cancellation.isCancelled ? nil : end
    }
}

extension RefreshingCredentials {
    /// The token for a product that is played.
    func token(
        insteadOf rejected: String?, cancellation: Cancellation
    ) throws(ResourceFailure) -> String? {
        try token(insteadOf: rejected, for: TokenUse(purpose: .playback, cancellation: cancellation))
    }
}
