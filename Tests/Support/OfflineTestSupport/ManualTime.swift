import Foundation
import Platform

/// A clock that a test sets. It counts as synchronised when it has a time.
// @unchecked: `lock` guards the mutable state.
public final class ManualTime: SystemTimeSource, @unchecked Sendable {
    private let lock = NSLock()
    private var now: Int64?
    private var unproved: Int64?

    public init() {}

    /// Since 1970.
    public var seconds: Int64? {
        get { lock.withLock { now } }
        set { lock.withLock { now = newValue } }
    }

    /// A clock that is not synchronised, since 1970.
    public var unprovedSeconds: Int64? {
        get { lock.withLock { unproved } }
        set { lock.withLock { unproved = newValue } }
    }

    public func read() -> SystemTime {
        let (proved, system) = (self.seconds, self.unprovedSeconds)
        return SystemTime(
            sinceBoot: (proved ?? 0) * 1_000_000_000, boot: "b", synchronised: proved.map { $0 * 1000 },
            clock: (proved ?? system).map { $0 * 1000 })
    }
}
