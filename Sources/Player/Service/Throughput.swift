import Platform

/// How fast content arrives, as measured over the last transfers. For the choice between encodings, and for when to
/// begin.
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

    /// - Parameter nanoseconds: in which the bytes have arrived.
    /// - Returns: false when they are too few to measure anything.
    @discardableResult
    func add(bytes: Int, nanoseconds: Int64) -> Bool {
        guard bytes >= Self.leastBytes else { return false }
        let rate = Double(bytes) * 8e9 / Double(max(1, nanoseconds))
        lock.withLock {
            last = rate
            average = average.map { ($0 + rate) / 2 } ?? rate
        }
        return true
    }

    /// The lower one of the last transfer and the average; nil while nothing was measured.
    var bitsPerSecond: Double? {
        lock.withLock {
            guard let last, let average else { return nil }
            return min(last, average)
        }
    }
}

/// Measures one transfer while the line sets the pace: not while its receiver has enough, and not over an
/// interruption, after which the line may be another one. A transfer that takes long is measured in parts.
///
/// Thread: that of its owner, which guards it: the network's counts, and the reader's resumes.
struct TransferMeter {
    /// Of a part, in nanoseconds.
    private static let part: Int64 = 1_000_000_000
    /// What is longer is an interruption, in nanoseconds.
    private static let longestSilence: Int64 = 3_000_000_000

    private let throughput: Throughput
    /// Of the present part; nil while the receiver sets the pace.
    private var start: Int64?
    private var lastArrival: Int64
    private var bytes = 0

    /// The request begins now.
    init(_ throughput: Throughput) {
        self.throughput = throughput
        lastArrival = throughput.now()
        start = lastArrival
    }

    mutating func count(_ count: Int) {
        guard let start else { return }
        let now = throughput.now()
        let silence = now - lastArrival
        lastArrival = now
        if silence > Self.longestSilence { return begin(now) }
        bytes += count
        if now - start >= Self.part, throughput.add(bytes: bytes, nanoseconds: now - start) { begin(now) }
    }

    /// All has arrived, or the receiver has enough.
    mutating func end() {
        guard let start else { return }
        throughput.add(bytes: bytes, nanoseconds: throughput.now() - start)
        self.start = nil
    }

    /// The receiver, which had enough, wants more.
    mutating func resume() { begin(throughput.now()) }

    private mutating func begin(_ now: Int64) {
        (start, lastArrival, bytes) = (now, now, 0)
    }
}
