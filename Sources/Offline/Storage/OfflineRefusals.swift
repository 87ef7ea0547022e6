import Platform
import Playback

/// The sizes of the downloads that found no room, so that the service is not asked for content that does not fit. A
/// size is remembered for a day: the content may have become smaller.
///
/// Thread: any; a call blocks only for a look-up.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class OfflineRefusals: @unchecked Sendable {
    private struct Refusal {
        var product: ServiceAddress
        /// The least size of its content, in bytes.
        var total: Int64
        /// When the service gave that size, in nanoseconds.
        var time: Int64
    }

    /// How long a size is remembered, in nanoseconds.
    private static let memory: Int64 = 24 * 3_600_000_000_000
    /// Keeps memory from growing with the number of downloads.
    private static let limit = 1024

    private let clock: any MonotonicClock
    private let lock = Lock()
    /// The refusals by the number of the download. Guarded by `lock`.
    private var refused: [Int64: Refusal] = [:]

    init(clock: any MonotonicClock) { self.clock = clock }

    /// - Returns: the least size of a download's content, in bytes; 0 when none is remembered.
    func total(of download: QueuedDownload) -> Int64 {
        let now = clock.now()
        return lock.withLock {
            guard let refusal = refused[download.number] else { return 0 }
            if now - refusal.time < Self.memory { return refusal.total }
            refused[download.number] = nil
            return 0
        }
    }

    func add(_ download: QueuedDownload, _ total: Int64) {
        let now = clock.now()
        lock.withLock {
            if refused.count >= Self.limit, refused[download.number] == nil,
                let oldest = refused.min(by: { $0.value.time < $1.value.time })?.key
            {
                refused[oldest] = nil
            }
            // The age counts from the service's answer, also when the same size is refused again.
            var time = now
            if let former = refused[download.number], former.total >= total { time = former.time }
            refused[download.number] = Refusal(product: download.product, total: total, time: time)
        }
    }

    /// Forgets a download that has room.
    func remove(_ download: QueuedDownload) { lock.withLock { refused[download.number] = nil } }

    /// - Parameter product: nil for all.
    /// - Returns: whether any size was remembered.
    func forget(_ product: ServiceAddress?) -> Bool {
        lock.withLock {
            let numbers = refused.filter { product == nil || $0.value.product == product }.map { $0.key }
            for number in numbers { refused[number] = nil }
            return !numbers.isEmpty
        }
    }
}
