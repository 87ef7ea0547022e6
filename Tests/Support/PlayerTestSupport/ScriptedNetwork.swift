import Network
import Platform
import TestSupport

@testable import Fetching
@testable import Player

/// A network whose answers a test gives, and whose time a test moves.
///
/// Thread: any for the requests, because a decoder's thread cancels a transfer when it releases its bytes. Answers come
/// inside the test's calls.
// @unchecked: `requests` is locked, and `server` is set before the first transfer.
package final class ScriptedNetwork: ServiceNetwork, @unchecked Sendable {
    /// A transfer that was begun.
    // @unchecked: as its network.
    package final class Ongoing: OngoingTransfer, @unchecked Sendable {
        package let request: TransferRequest
        private let sink: any TransferSink
        package private(set) var isCancelled = false
        package private(set) var resumes = 0
        /// The time to the first byte, in nanoseconds, as the network measures it.
        package var firstByteDelay: Int64?
        private var isOver = false
        /// The data that `send` has not delivered yet; nil when it is not sending.
        private var unsent: (pieces: ArraySlice<[UInt8]>, passTime: (Int) -> Void)?

        package init(_ request: TransferRequest, _ sink: any TransferSink) {
            self.request = request
            self.sink = sink
        }

        package func cancel() {
            isCancelled = true
            end(.cancelled)
        }

        package func resume() {
            resumes += 1
            guard let unsent else { return }
            self.unsent = nil
            send(unsent.pieces, passTime: unsent.passTime)
        }

        /// Delivers all pieces as the sink takes them, and ends.
        /// - Parameter passTime: lets the time pass in which a piece of this many bytes arrives. It is called before
        ///   each delivery, also after the sink has asked for a pause.
        package func send(_ pieces: ArraySlice<[UInt8]>, passTime: @escaping (Int) -> Void = { _ in }) {
            for place in pieces.indices where !isOver {
                passTime(pieces[place].count)
                guard deliver(pieces[place]) == .more else {
                    unsent = (pieces[place...], passTime)
                    return
                }
            }
            end()
        }

        package func begin(_ status: Int, _ headers: [(String, String)] = []) {
            var head = ResponseHead(
                status: status, headers: headers.map { HeaderField($0.0, $0.1) }, effectiveURL: request.url)
            head.firstByteDelay = firstByteDelay
            sink.began(head)
        }

        @discardableResult
        package func deliver(_ bytes: [UInt8]) -> SinkAnswer { bytes.withUnsafeBytes { sink.received($0) } }

        package func end(_ error: TransferError? = nil) {
            guard !isOver else { return }
            isOver = true
            sink.ended(error)
        }

        /// A whole answer.
        package func answer(_ status: Int, _ headers: [(String, String)] = [], _ body: [UInt8] = []) {
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
    package var server: ((Ongoing) -> Void)?

    package init() {}

    package var transfers: [Ongoing] { requests.value.transfers }
    package var last: Ongoing { transfers[transfers.count - 1] }
    /// The delays that have not ended, in milliseconds.
    package var delays: [Int64] { requests.value.delays }
    /// Those of `delays` that another link ends, in milliseconds.
    package var linkWaits: [Int64] { requests.value.linkWaits }

    package func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = Ongoing(request, sink)
        requests.withLock { $0.transfers.append(transfer) }
        server?(transfer)
        return transfer
    }

    package func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        requests.withLock {
            $0.delays.append(nanoseconds / 1_000_000)
            $0.actions.append(action)
        }
    }

    package func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {
        requests.withLock {
            $0.delays.append(nanoseconds / 1_000_000)
            $0.linkWaits.append(nanoseconds / 1_000_000)
            $0.linkActions.append(action)
        }
    }

    /// Lets all delays pass that were asked for up to now.
    package func passDelays() {
        let due = requests.withLock { requests in
            defer { requests.actions = [] }
            return requests.actions
        }
        endLinkWaits(.timeElapsed)
        for action in due { action() }
    }

    /// There is another link. Other delays do not end.
    package func changeLink() { endLinkWaits(.linkChanged) }

    private func endLinkWaits(_ reason: LinkWaitEnd) {
        let due = requests.withLock { requests in
            defer { (requests.linkActions, requests.linkWaits, requests.delays) = ([], [], []) }
            return requests.linkActions
        }
        for action in due { action(reason) }
    }
}
