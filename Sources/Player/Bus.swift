/// Delivers messages to whoever subscribed, in the order in which they were sent.
///
/// Thread: control alone. Subscribers are called on the control thread: they may call any asynchronous function of the
/// player, and must neither block nor take long.
public final class Bus<Message>: @unchecked Sendable {
    /// Names a subscription, to end it.
    public struct Subscription: Equatable, Sendable {
        fileprivate let number: UInt64
    }

    private let loop: ControlLoop
    private var subscribers: [(number: UInt64, receive: @Sendable (Message) -> Void)] = []
    private let lastNumber = SubscriptionCounter()

    init(loop: ControlLoop) { self.loop = loop }

    /// Calls `receive` with every message from now on. Any thread.
    @discardableResult
    public func subscribe(_ receive: @escaping @Sendable (Message) -> Void) -> Subscription {
        let number = lastNumber.next()
        loop.perform { [self] in subscribers.append((number, receive)) }
        return Subscription(number: number)
    }

    /// Ends a subscription. Any thread; messages already under way may still arrive.
    public func cancel(_ subscription: Subscription) {
        loop.perform { [self] in subscribers.removeAll { $0.number == subscription.number } }
    }

    func send(_ message: Message) {
        for subscriber in subscribers { subscriber.receive(message) }
    }
}
