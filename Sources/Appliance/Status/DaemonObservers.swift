/// The receivers of changes of the daemon.
///
/// Thread: the daemon's.
public final class DaemonObservers {
    private var observers: [(number: UInt64, receive: (DaemonEvent) -> Void)] = []
    private var lastNumber: UInt64 = 0

    /// Calls `receive` with each change from now on.
    /// - Returns: the number of the observer, for `remove`.
    @discardableResult
    package func add(_ receive: @escaping (DaemonEvent) -> Void) -> UInt64 {
        lastNumber += 1
        observers.append((lastNumber, receive))
        return lastNumber
    }

    /// Does nothing for an observer that was removed before.
    public func remove(_ observer: UInt64) { observers.removeAll { $0.number == observer } }

    func removeAll() { observers = [] }

    package func notify(_ event: DaemonEvent) {
        // The loop iterates over a copy, because an observer may remove itself or others.
        for observer in observers { observer.receive(event) }
    }
}
