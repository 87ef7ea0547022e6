import Platform

/// Whether the app is in offline mode: nothing begins to use the network then (docs/playback.md, 16.5). One for the
/// player and its sources.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards everything.
public final class OfflineMode: @unchecked Sendable {
    private let lock = Lock()
    private var value = false
    private var observer: (@Sendable (Bool) -> Void)?

    public init() {}

    public var isOn: Bool {
        get { lock.withLock { value } }
        set {
            let observer: (@Sendable (Bool) -> Void)? = lock.withLock {
                defer { value = newValue }
                return value == newValue ? nil : self.observer
            }
            observer?(newValue)
        }
    }

    /// Calls `observer` with each new value, on the thread that sets it.
    func observe(_ observer: @escaping @Sendable (Bool) -> Void) { lock.withLock { self.observer = observer } }
}
