import Platform
import Synchronization

/// Delivers messages to all subscribers, in the order in which they were sent.
///
/// Thread: only control. Subscribers are called on the control thread: they may call any asynchronous function of the
/// player, and must neither block nor take long.
/// `@unchecked Sendable` is safe because control alone uses the subscribers; the number is an atomic.
public final class Bus<Message>: @unchecked Sendable {
    /// Identifies a subscription, to cancel it.
    public struct Subscription: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private let loop: EventLoop
    private var subscribers: [(number: UInt64, receive: @Sendable (Message) -> Void)] = []
    private let lastNumber = Atomic<UInt64>(0)

    package init(loop: EventLoop) { self.loop = loop }

    /// Calls `receive` with every message from now on. Any thread.
    @discardableResult
    public func subscribe(_ receive: @escaping @Sendable (Message) -> Void) -> Subscription {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        loop.post { [self] in subscribers.append((number, receive)) }
        return Subscription(number: number)
    }

    /// Ends a subscription. Any thread. Messages that are already being delivered may still arrive.
    public func cancel(_ subscription: Subscription) {
        loop.post { [self] in subscribers.removeAll { $0.number == subscription.number } }
    }

    package func send(_ message: Message) {
        for subscriber in subscribers { subscriber.receive(message) }
    }
}
