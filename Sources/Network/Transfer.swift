import Platform
import Synchronization

/// A transfer that was started. It goes on when this handle is dropped. Any thread.
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

    /// Ends the transfer in whatever state it is; its sink gets `.cancelled`, and nothing else from now on, except from
    /// a call that is under way. Does nothing after the end. Idempotent.
    public func cancel() {
        guard !flag.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.post { [transfers, number] in transfers.cancel(number) }
    }

    /// The sink, which had enough, wants more. Does nothing otherwise.
    public func resume() {
        loop.post { [transfers, number] in transfers.resume(number) }
    }

    /// Whether `cancel` was called.
    public var isCancelled: Bool { flag.load(ordering: .acquiring) }
}
