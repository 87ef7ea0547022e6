import Platform

/// Whether the app is in offline mode, in which no part uses the network (docs/playback.md, 16.5). The player, its
/// sources and the network share one object.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards everything.
public final class OfflineMode: @unchecked Sendable {
    private let lock = Lock()
    private var value = false
    private var observers: [@Sendable (Bool) -> Void] = []

    public init() {}

    public var isOn: Bool {
        get { lock.withLock { value } }
        set {
            let observers = lock.withLock {
                defer { value = newValue }
                return value == newValue ? [] : self.observers
            }
            for observer in observers { observer(newValue) }
        }
    }

    /// Calls `observer` with each new value, on the thread that sets it, after earlier observers.
    /// - Returns: the present value.
    @discardableResult
    package func observe(_ observer: @escaping @Sendable (Bool) -> Void) -> Bool {
        lock.withLock {
            observers.append(observer)
            return value
        }
    }
}
