import Network
import Platform

@testable import Player

/// A network that answers as a test says, and whose time passes when a test says so.
///
/// Thread: the test's; answers come inside its calls.
// @unchecked: used on one thread at a time.
final class ScriptedNetwork: ServiceNetwork, @unchecked Sendable {
    /// A transfer that was begun.
    // @unchecked: as its network.
    final class Ongoing: OngoingTransfer, @unchecked Sendable {
        let request: TransferRequest
        private let sink: any TransferSink
        private(set) var isCancelled = false
        private(set) var resumes = 0
        private var isOver = false

        init(_ request: TransferRequest, _ sink: any TransferSink) {
            self.request = request
            self.sink = sink
        }

        func cancel() {
            isCancelled = true
            end(.cancelled)
        }

        func resume() { resumes += 1 }

        func begin(_ status: Int, _ headers: [(String, String)] = []) {
            sink.began(
                ResponseHead(
                    status: status, headers: headers.map { HeaderField($0.0, $0.1) }, effectiveURL: request.url))
        }

        @discardableResult
        func deliver(_ bytes: [UInt8]) -> SinkAnswer { bytes.withUnsafeBytes { sink.received($0) } }

        func end(_ error: TransferError? = nil) {
            guard !isOver else { return }
            isOver = true
            sink.ended(error)
        }

        /// A whole answer.
        func answer(_ status: Int, _ headers: [(String, String)] = [], _ body: [UInt8] = []) {
            begin(status, headers)
            if !body.isEmpty { deliver(body) }
            end()
        }
    }

    private(set) var transfers: [Ongoing] = []
    /// In milliseconds, those that are still to come.
    private(set) var delays: [Int64] = []
    private var actions: [@Sendable () -> Void] = []
    /// In milliseconds, those of `delays` that another link ends.
    private(set) var linkWaits: [Int64] = []
    private var linkActions: [@Sendable (LinkWaitEnd) -> Void] = []
    /// Answers at once, when it is set.
    var server: ((Ongoing) -> Void)?

    var last: Ongoing { transfers[transfers.count - 1] }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = Ongoing(request, sink)
        transfers.append(transfer)
        server?(transfer)
        return transfer
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        delays.append(nanoseconds / 1_000_000)
        actions.append(action)
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        delays.append(nanoseconds / 1_000_000)
        linkWaits.append(nanoseconds / 1_000_000)
        linkActions.append(action)
    }

    /// Lets all delays pass that were asked for up to now.
    func passDelays() {
        let due = actions
        actions = []
        endLinkWaits(.timeElapsed)
        for action in due { action() }
    }

    /// There is another link. Other delays do not end.
    func changeLink() { endLinkWaits(.linkChanged) }

    private func endLinkWaits(_ reason: LinkWaitEnd) {
        let due = linkActions
        linkActions = []
        linkWaits = []
        delays = []
        for action in due { action(reason) }
    }
}
