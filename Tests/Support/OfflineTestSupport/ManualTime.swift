import Foundation
import Platform

/// A clock that a test sets. It counts as synchronised when it has a time.
// @unchecked: `lock` guards the mutable state.
public final class ManualTime: SystemTimeSource, @unchecked Sendable {
    private let lock = NSLock()
    private var now: Int64?

    public init() {}

    /// Since 1970.
    public var seconds: Int64? {
        get { lock.withLock { now } }
        set { lock.withLock { now = newValue } }
    }

    public func read() -> SystemTime {
        let seconds = seconds
        return SystemTime(
            sinceBoot: (seconds ?? 0) * 1_000_000_000, boot: "b", synchronised: seconds.map { $0 * 1000 })
    }
}
