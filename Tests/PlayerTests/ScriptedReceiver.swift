import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport

@testable import Account
@testable import Fetching
@testable import Offline
@testable import Player

/// A service that takes batches of events as a script says, and keeps the first of each id.
// @unchecked: `lock` guards the mutable state.
final class ScriptedReceiver: LoginNetwork, @unchecked Sendable {
    enum Answer {
        case taken
        /// The batch is stored, and the answer is lost.
        case takenAndLost
        case lost
        /// A status without a body of the service: a filter or a proxy may have answered.
        case status(Int)
        /// A refusal of the service itself.
        case refusal(Int)
        case text(String)
        /// The sender's fault: the first event of the batch is refused, and the others are stored.
        case refusesFirst
    }

    /// Whether the only link costs money.
    var isMetered = false
    /// Called with the body of each event.
    var received: (String) -> Void = { _ in }
    private let lock = Lock()
    private var script: [Answer]
    private var stored: [(id: String, name: String)] = []
    private var sent: [(token: String?, count: Int)] = []

    init(_ script: [Answer] = []) { self.script = script }

    /// The names of the stored events, in their order.
    var names: [String] { lock.withLock { stored.map { $0.name } } }
    /// The token and the number of events of each request.
    var requests: [(token: String?, count: Int)] { lock.withLock { sent } }

    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response {
        guard case .post(let body, _) = request.method, let fields = FormText.fields(of: body) else {
            throw .malformedAnswer
        }
        func values(_ ending: String) -> [String] {
            fields.filter { $0.name.hasSuffix(ending) }.map { $0.value }
        }
        let events = Array(zip(values(".Id"), values(".1.Value.StringValue")))
        for body in values(".MessageBody") { received(body) }
        let token = request.headers.first { $0.isNamed("Authorization") }?.value
        let answer = lock.withLock { () -> Answer in
            sent.append((token, events.count))
            return script.isEmpty ? .taken : script.removeFirst()
        }
        switch answer {
        case .lost: throw .truncated
        case _ where isMetered && !request.mayUseMeteredLink: throw .meteredLink
        case .status(let status):
            return Response(head: ResponseHead(status: status, effectiveURL: request.url), body: [])
        case .refusal(let status):
            let body = Array("{\"status\":\(status),\"subStatus\":1002}".utf8)
            return Response(head: ResponseHead(status: status, effectiveURL: request.url), body: body)
        case .text(let text):
            return Response(head: ResponseHead(status: 200, effectiveURL: request.url), body: Array(text.utf8))
        case .taken, .takenAndLost, .refusesFirst:
            var taken = events[...]
            var text = ""
            if case .refusesFirst = answer, let first = taken.popFirst() {
                text +=
                    "<BatchResultErrorEntry><Id>\(first.0)</Id><SenderFault>true</SenderFault></BatchResultErrorEntry>"
            }
            lock.withLock {
                for (id, name) in taken where !stored.contains(where: { $0.id == id }) { stored.append((id, name)) }
            }
            if case .takenAndLost = answer { throw .truncated }
            for (id, _) in taken { text += "<SendMessageBatchResultEntry><Id>\(id)</Id></SendMessageBatchResultEntry>" }
            let document =
                "<SendMessageBatchResponse xmlns=\"http://queue.example/\"><SendMessageBatchResult>\(text)"
                + "</SendMessageBatchResult></SendMessageBatchResponse>"
            return Response(head: ResponseHead(status: 200, effectiveURL: request.url), body: Array(document.utf8))
        }
    }

    var linkChanges: UInt32 { 0 }
    func wait(_ nanoseconds: Int64, cancellation: Cancellation) -> Bool { false }
    func waitForLink(since seen: UInt32, atMost nanoseconds: Int64, cancellation: Cancellation) -> LinkWaitEnd? { nil }
}

/// Two tokens, one after the other.
final class TwoTokens: CredentialsProvider {
    func token(insteadOf rejected: String?, for use: TokenUse) -> String? { rejected == nil ? "old" : "new" }
}

/// A login whose token is the name of its user.
final class Login: CredentialsProvider {
    let current = Locked<String?>(nil)
    /// Called after a token was given.
    let given = Locked<@Sendable () -> Void>({})

    func token(insteadOf rejected: String?, for use: TokenUse) -> String? {
        let token = current.value
        given.value()
        return token == rejected ? nil : token
    }

    func user(of token: String?) -> String? { token ?? current.value }
}
