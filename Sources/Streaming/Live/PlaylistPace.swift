import Fetching
import Network

/// When the playlist or the manifest of a live stream is loaded again, as a value. Times are in nanoseconds of the
/// owner's clock.
struct PlaylistPace {
    private static let mostSilence = 120_000

    /// The time from one load to the next, in seconds.
    var interval: Double
    /// Whether the last load has brought new segments.
    var hasGrown = true
    /// Why the last load has failed; nil when it has succeeded.
    private(set) var failure: ResourceFailure?
    /// How long the next load may be silent, in milliseconds. The whole load may take twice as long.
    private(set) var longestSilence: Int
    private let patience: LivePatience
    private var loadTime: Int64

    init(interval: Double, _ patience: LivePatience, at now: Int64) {
        self.interval = interval
        self.patience = patience
        longestSilence = patience.longestSilence
        loadTime = now
    }

    mutating func succeeded() {
        failure = nil
        // The outage is over, but a slow server may stay slow.
        longestSilence = max(patience.longestSilence, longestSilence / 2)
    }

    mutating func failed(_ failure: ResourceFailure, at now: Int64) {
        // A server may need longer.
        if case .transfer(.timeOut) = failure { longestSilence = min(2 * longestSilence, Self.mostSilence) }
        self.failure = failure
        hasGrown = false
        loadTime = now
    }

    /// Returns the delay of the next load.
    mutating func next(at now: Int64) -> Int64 {
        let delay = max(0, loadTime + pause - now)
        loadTime = now + delay
        return delay
    }

    /// The time from one load to the next. It is shorter after a load that failed or brought no new segment.
    private var pause: Int64 {
        if failure != nil { return patience.pace }
        return Int64(max(0.1, min(interval * (hasGrown ? 1 : 0.5), 3600)) * 1e9)
    }
}
