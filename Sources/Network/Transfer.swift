import Platform
import Synchronization

/// A started transfer, which continues when this handle is released. Any thread.
public final class Transfer: Sendable {
    let number: UInt64
    private let transfers: Transfers
    private let loop: EventLoop
    private let flag = Atomic(false)

    init(_ number: UInt64, of transfers: Transfers, on loop: EventLoop) {
        self.number = number
        self.transfers = transfers
        self.loop = loop
    }

    /// Ends the transfer in any state. Its sink gets `.cancelled` and nothing else, except for a call in progress. Does
    /// nothing after the end. Idempotent.
    public func cancel() {
        guard !flag.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.post { [transfers, number] in transfers.cancel(number) }
    }

    /// Delivers again after the sink has answered `.enough`; otherwise does nothing.
    public func resume() {
        loop.post { [transfers, number] in transfers.resume(number) }
    }

    /// Whether `cancel` was called.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
