import Network
import Platform

/// How fast content arrives, as measured over the last transfers, for each kind of link. For the choice between
/// representations, and for when to begin.
///
/// Thread: any; the network's measures.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class Throughput: @unchecked Sendable {
    /// With fewer bytes, several transfers are one measure: alone they show how long an answer takes, not the line.
    private static let leastBytes = 16 << 10
    /// The share of the wait for an answer that counts at least: a line may be so slow that the wait is all of it.
    private static let leastShareOfWait: Int64 = 4

    /// A wait for the first answer of a link that counts as such, in nanoseconds.
    private static let longestFirstWait: Int64 = 400_000_000

    private struct Line {
        var last: Double?
        var average: Double?
        /// When a transfer that was long enough was measured, and whether the last measure was of short ones.
        var measured: Int64?
        var isOfShort = false
    }

    /// So long nothing is tried after a measure, in nanoseconds.
    private static let longestTrust: Int64 = 60_000_000_000

    let clock: any MonotonicClock
    private let lock = Lock()
    private var kind = Link.Kind.ethernet
    private var line = Line()
    /// The lines of the other links that were in use.
    private var others: [(kind: Link.Kind, line: Line)] = []
    /// Transfers that are too short to be a measure.
    private var short: (bytes: Int, nanoseconds: Int64) = (0, 0)
    /// How long the answer to a request takes; nil while none was measured.
    private var wait: Int64?

    init(clock: any MonotonicClock = SystemMonotonicClock()) { self.clock = clock }

    func now() -> Int64 { clock.now() }

    /// Another link is in use from now on. The measure of the one before is kept for when it returns.
    func linkChanged(to kind: Link.Kind) {
        lock.withLock {
            guard kind != self.kind, kind != .offline else { return }
            others.append((self.kind, line))
            line = others.first { $0.kind == kind }?.line ?? Line()
            others.removeAll { $0.kind == kind }
            self.kind = kind
            (short, wait) = ((0, 0), nil)
        }
    }

    /// - Parameters:
    ///   - nanoseconds: in which the bytes have arrived.
    ///   - isLong: whether that was so long that it is a measure, however few the bytes are.
    /// - Returns: false when they are too few to measure anything.
    @discardableResult
    func add(bytes: Int, nanoseconds: Int64, isLong: Bool = false) -> Bool {
        guard bytes >= Self.leastBytes || isLong && bytes > 0 else { return false }
        lock.withLock {
            measured(bytes, nanoseconds)
            (line.measured, line.isOfShort) = (clock.now(), false)
        }
        return true
    }

    /// Counts the end of a transfer, however short. Short ones are added up until they are a measure.
    /// - Parameter nanoseconds: in which the bytes have arrived, without the wait for the answer.
    func addShort(bytes: Int, nanoseconds: Int64) {
        if add(bytes: bytes, nanoseconds: nanoseconds) || bytes <= 0 { return }
        lock.withLock {
            short.bytes += bytes
            short.nanoseconds += max(0, nanoseconds)
            guard short.bytes >= Self.leastBytes else { return }
            measured(short.bytes, short.nanoseconds)
            line.isOfShort = true
            short = (0, 0)
        }
    }

    /// The same for a transfer whose bytes have arrived at once, so that nothing tells the wait from the line.
    /// - Parameter nanoseconds: from the request to the last byte.
    func addWhole(bytes: Int, nanoseconds: Int64) {
        if add(bytes: bytes, nanoseconds: nanoseconds) { return }
        addShort(bytes: bytes, nanoseconds: nanoseconds - lock.withLock { latency(in: nanoseconds) })
    }

    /// The first bytes of an answer have arrived.
    /// - Parameter nanoseconds: since the request.
    /// - Returns: the part of it that does not count as slowness of the line: it is the same for any number of bytes.
    func answered(after nanoseconds: Int64) -> Int64 {
        lock.withLock {
            // The first answer says itself how long it takes. After a longer time the line itself may be the reason.
            if wait == nil, nanoseconds <= Self.longestFirstWait { wait = nanoseconds }
            let latency = latency(in: nanoseconds)
            // The shortest of late. A line that has become slower is noticed after some requests.
            wait = wait.map { min(nanoseconds, $0 + max(0, nanoseconds - $0) / 32) } ?? nanoseconds
            return latency
        }
    }

    private func latency(in nanoseconds: Int64) -> Int64 {
        max(0, min(wait ?? 0, nanoseconds - nanoseconds / Self.leastShareOfWait))
    }

    private func measured(_ bytes: Int, _ nanoseconds: Int64) {
        let rate = Double(bytes) * 8e9 / Double(max(1, nanoseconds))
        line.last = rate
        line.average = line.average.map { ($0 + rate) / 2 } ?? rate
    }

    /// Whether the line may be much faster than measured: of late only short transfers were.
    var mayBeFaster: Bool {
        let now = clock.now()
        return lock.withLock { line.isOfShort && (line.measured.map { now - $0 >= Self.longestTrust } ?? true) }
    }

    /// The lower one of the last transfer and the average; nil while nothing was measured on this kind of link.
    var bitsPerSecond: Double? {
        lock.withLock {
            guard let last = line.last, let average = line.average else { return nil }
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
    /// A part that takes so long is a measure, however few its bytes are.
    private static let longestPart: Int64 = 3_000_000_000
    /// A longer silence is an interruption, in nanoseconds. TLS gives 16 KiB at once, which take so long at 26 kbit/s.
    private static let longestSilence: Int64 = 5_000_000_000

    private let throughput: Throughput
    /// Of the present part; nil while the receiver sets the pace.
    private var start: Int64?
    private var lastArrival: Int64
    private var bytes = 0
    /// How often bytes have arrived in the present part.
    private var arrivals = 0
    /// Whether the part begins with the request.
    private var hasWait = true
    /// Of the wait for the answer, until a second arrival tells the wait from the line.
    private var latency: Int64 = 0

    /// The request begins now.
    init(_ throughput: Throughput) {
        self.throughput = throughput
        lastArrival = throughput.now()
        start = lastArrival
    }

    mutating func count(_ count: Int) {
        guard var start else { return }
        let now = throughput.now()
        let silence = now - lastArrival
        lastArrival = now
        if hasWait, arrivals == 0 { latency = throughput.answered(after: now - start) }
        if silence > Self.longestSilence { return begin(now) }
        if arrivals == 1 {
            start += latency
            self.start = start
        }
        arrivals += 1
        bytes += count
        guard now - start >= Self.part else { return }
        let isLong = arrivals > 1 && now - start >= Self.longestPart
        if throughput.add(bytes: bytes, nanoseconds: now - start, isLong: isLong) { begin(now) }
    }

    /// All has arrived, or the receiver has enough.
    mutating func end() {
        guard let start else { return }
        let elapsed = throughput.now() - start
        if hasWait, arrivals <= 1 {
            throughput.addWhole(bytes: bytes, nanoseconds: elapsed)
        } else {
            throughput.addShort(bytes: bytes, nanoseconds: elapsed)
        }
        self.start = nil
    }

    /// The receiver, which had enough, wants more.
    mutating func resume() { begin(throughput.now()) }

    private mutating func begin(_ now: Int64) {
        (start, lastArrival, bytes, arrivals) = (now, now, 0, 0)
        (hasWait, latency) = (false, 0)
    }
}
