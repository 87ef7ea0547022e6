/// A bounded first-in-first-out queue between exactly two threads, for commands to the audio thread and events from it.
/// Neither side locks, waits or allocates after `init`. `@unchecked Sendable` is safe because a slot has one owner at a
/// time, which the two atomic cursors determine.
public final class MessageQueue<Element: BitwiseCopyable>: @unchecked Sendable {
    private let slots: UnsafeMutablePointer<Element>
    private let mask: Int
    /// Counts pops; owned by the consumer.
    private let head = Cursor()
    /// Counts pushes; owned by the producer.
    private let tail = Cursor()

    /// - Parameter capacity: the least number of elements that fit; rounded up to a power of two.
    public init(capacity: Int) {
        var rounded = 1
        while rounded < capacity { rounded *= 2 }
        slots = .allocate(capacity: rounded)
        mask = rounded - 1
    }

    deinit { slots.deallocate() }

    /// Elements that fit.
    public var capacity: Int { mask + 1 }

    /// Elements that can be pushed before any is popped. Producer's thread.
    public var freeCapacity: Int { capacity - Int(tail.owned() - head.read()) }

    /// Appends `element`. Producer's thread.
    /// - Returns: false, with nothing changed, when the queue is full.
    public func push(_ element: Element) -> Bool {
        let position = tail.owned()
        guard position - head.read() < capacity else { return false }
        slot(position).initialize(to: element)
        tail.publish(position + 1)
        return true
    }

    /// Takes the oldest element, nil when there is none. Consumer's thread.
    public func pop() -> Element? {
        let position = head.owned()
        guard position < tail.read() else { return nil }
        let element = slot(position).pointee
        head.publish(position + 1)
        return element
    }

    private func slot(_ position: Int64) -> UnsafeMutablePointer<Element> {
        slots + (Int(truncatingIfNeeded: position) & mask)
    }
}
