import Platform

/// How fast content arrives, as measured over the last transfers. For the choice between encodings.
///
/// Thread: any; the network's measures.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class Throughput: @unchecked Sendable {
    /// Shorter transfers measure how long an answer takes, not the line.
    private static let leastBytes = 16 << 10

    let clock: any MonotonicClock
    private let lock = Lock()
    private var last: Double?
    private var average: Double?

    init(clock: any MonotonicClock = SystemMonotonicClock()) { self.clock = clock }

    func now() -> Int64 { clock.now() }

    /// - Parameter nanoseconds: from the request to the last of the bytes.
    func add(bytes: Int, nanoseconds: Int64) {
        guard bytes >= Self.leastBytes else { return }
        let rate = Double(bytes) * 8e9 / Double(max(1, nanoseconds))
        lock.withLock {
            last = rate
            average = average.map { ($0 + rate) / 2 } ?? rate
        }
    }

    /// The lower one of the last transfer and the average; nil while nothing was measured.
    var bitsPerSecond: Double? {
        lock.withLock {
            guard let last, let average else { return nil }
            return min(last, average)
        }
    }
}

/// Measures one transfer, up to the moment at which its receiver has enough: from then on the receiver sets the pace.
struct TransferMeter {
    private let throughput: Throughput
    private let start: Int64
    private var bytes = 0
    private var isOver = false

    /// The request begins now.
    init(_ throughput: Throughput) {
        self.throughput = throughput
        start = throughput.now()
    }

    mutating func count(_ count: Int) { bytes += count }

    /// All has arrived, or the receiver has enough. Later calls do nothing.
    mutating func end() {
        guard !isOver else { return }
        isOver = true
        throughput.add(bytes: bytes, nanoseconds: throughput.now() - start)
    }
}
