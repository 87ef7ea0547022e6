import Platform
import Synchronization

/// A clock that moves only when a test moves it. With an `EventLoop(drivenBy:)`, `clockAdvanced` comes next.
public final class ManualClock: MonotonicClock {
    private let time: Atomic<Int64>

    public init(_ nanoseconds: Int64 = 0) { time = Atomic(nanoseconds) }

    public func now() -> Int64 { time.load(ordering: .acquiring) }

    public func advance(by nanoseconds: Int64) {
        time.wrappingAdd(nanoseconds, ordering: .acquiringAndReleasing)
    }
}
