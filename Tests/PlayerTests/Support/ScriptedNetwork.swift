import Network
import Platform
import TestSupport

@testable import Player

/// A network whose answers a test gives, and whose time a test moves.
///
/// Thread: any for the requests, because a decoder's thread cancels a transfer when it releases its bytes. Answers come
/// inside the test's calls.
// @unchecked: `requests` is locked, and `server` is set before the first transfer.
final class ScriptedNetwork: ServiceNetwork, @unchecked Sendable {
    /// A transfer that was begun.
    // @unchecked: as its network.
    final class Ongoing: OngoingTransfer, @unchecked Sendable {
        let request: TransferRequest
        private let sink: any TransferSink
        private(set) var isCancelled = false
        private(set) var resumes = 0
        private var isOver = false
        /// The data that `send` has not delivered yet; nil when it is not sending.
        private var unsent: (pieces: ArraySlice<[UInt8]>, passTime: (Int) -> Void)?

        init(_ request: TransferRequest, _ sink: any TransferSink) {
            self.request = request
            self.sink = sink
        }

        func cancel() {
            isCancelled = true
            end(.cancelled)
        }

        func resume() {
            resumes += 1
            guard let unsent else { return }
            self.unsent = nil
            send(unsent.pieces, passTime: unsent.passTime)
        }

        /// Delivers all pieces as the sink takes them, and ends.
        /// - Parameter passTime: lets the time pass in which a piece of this many bytes arrives. It is called before
        ///   each delivery, also after the sink has asked for a pause.
        func send(_ pieces: ArraySlice<[UInt8]>, passTime: @escaping (Int) -> Void = { _ in }) {
            for place in pieces.indices where !isOver {
                passTime(pieces[place].count)
                guard deliver(pieces[place]) == .more else {
                    unsent = (pieces[place...], passTime)
                    return
                }
            }
            end()
        }

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

    private struct Requests {
        var transfers: [Ongoing] = []
        var delays: [Int64] = []
        var actions: [@Sendable () -> Void] = []
        var linkWaits: [Int64] = []
        var linkActions: [@Sendable (LinkWaitEnd) -> Void] = []
    }

    private let requests = Locked(Requests())
    /// Answers at once, when it is set. Set before the first transfer.
    var server: ((Ongoing) -> Void)?

    var transfers: [Ongoing] { requests.value.transfers }
    var last: Ongoing { transfers[transfers.count - 1] }
    /// The delays that have not ended, in milliseconds.
    var delays: [Int64] { requests.value.delays }
    /// Those of `delays` that another link ends, in milliseconds.
    var linkWaits: [Int64] { requests.value.linkWaits }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = Ongoing(request, sink)
        requests.withLock { $0.transfers.append(transfer) }
        server?(transfer)
        return transfer
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        requests.withLock {
            $0.delays.append(nanoseconds / 1_000_000)
            $0.actions.append(action)
        }
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        requests.withLock {
            $0.delays.append(nanoseconds / 1_000_000)
            $0.linkWaits.append(nanoseconds / 1_000_000)
            $0.linkActions.append(action)
        }
    }

    /// Lets all delays pass that were asked for up to now.
    func passDelays() {
        let due = requests.withLock { requests in
            defer { requests.actions = [] }
            return requests.actions
        }
        endLinkWaits(.timeElapsed)
        for action in due { action() }
    }

    /// There is another link. Other delays do not end.
    func changeLink() { endLinkWaits(.linkChanged) }

    private func endLinkWaits(_ reason: LinkWaitEnd) {
        let due = requests.withLock { requests in
            defer { (requests.linkActions, requests.linkWaits, requests.delays) = ([], [], []) }
            return requests.linkActions
        }
        for action in due { action(reason) }
    }
}
