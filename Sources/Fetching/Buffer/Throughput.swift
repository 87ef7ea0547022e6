import Network
import Platform

/// The throughput of the last transfers, for each kind of link. For the choice between representations, and the
/// decision when playback begins. A `Line` holds the measurements of one link.
///
/// Thread: any; the network's thread measures.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class Throughput: @unchecked Sendable {
    /// Transfers with fewer bytes are added up to one measurement: alone, they measure the latency and not the
    /// throughput.
    private static let leastBytes = 16 << 10
    /// The divisor for the minimum share of the wait for an answer that counts: on a very slow link all of it is
    /// transfer time.
    private static let leastShareOfWait: Int64 = 4

    /// The longest first wait on a link that counts as latency, in nanoseconds.
    private static let longestFirstWait: Int64 = 400_000_000

    private struct Line {
        var last: Double?
        var average: Double?
        /// When a long enough transfer was last measured, and whether the last measurement added up short ones.
        var measured: Int64?
        var isOfShort = false
    }

    /// The time after a measurement in which no faster representation is tried, in nanoseconds.
    private static let longestTrust: Int64 = 60_000_000_000

    package let clock: any MonotonicClock
    private let lock = Lock()
    private var kind = Link.Kind.ethernet
    private var line = Line()
    /// The measurements of the other links that were in use.
    private var others: [(kind: Link.Kind, line: Line)] = []
    /// Transfers that are too short for a measurement.
    private var short: (bytes: Int, nanoseconds: Int64) = (0, 0)
    /// The latency of an answer, in nanoseconds; nil while none was measured.
    private var wait: Int64?

    package init(clock: any MonotonicClock = SystemMonotonicClock()) { self.clock = clock }

    package func now() -> Int64 { clock.now() }

    /// Switches to another link. The measurements of the old one are stored for its return.
    package func linkChanged(to kind: Link.Kind) {
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
    ///   - nanoseconds: the time in which the bytes have arrived.
    ///   - isLong: whether that time is long enough for a measurement, however few bytes there are.
    /// - Returns: false when there are too few bytes for a measurement.
    @discardableResult
    func add(bytes: Int, nanoseconds: Int64, isLong: Bool = false) -> Bool {
        guard bytes >= Self.leastBytes || isLong && bytes > 0 else { return false }
        lock.withLock {
            measured(bytes, nanoseconds)
            (line.measured, line.isOfShort) = (clock.now(), false)
        }
        return true
    }

    /// Counts the end of a transfer, however short. Short ones are added up until they suffice for a measurement.
    /// - Parameter nanoseconds: the time in which the bytes have arrived, without the wait for the answer.
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

    /// Counts a transfer whose bytes have arrived at once, so that latency and transfer time cannot be separated.
    /// - Parameter nanoseconds: the time from the request to the last byte.
    func addWhole(bytes: Int, nanoseconds: Int64) {
        if add(bytes: bytes, nanoseconds: nanoseconds) { return }
        addShort(bytes: bytes, nanoseconds: nanoseconds - lock.withLock { latency(in: nanoseconds) })
    }

    /// Counts the arrival of the first bytes of an answer.
    /// - Parameter nanoseconds: the time since the request.
    /// - Returns: the part of that time that is latency, which does not depend on the number of bytes.
    func answered(after nanoseconds: Int64) -> Int64 {
        lock.withLock {
            // The first answer gives the latency itself. A longer wait may be due to a slow link.
            if wait == nil, nanoseconds <= Self.longestFirstWait { wait = nanoseconds }
            let latency = latency(in: nanoseconds)
            // The shortest recent wait. A latency that has grown is noticed after some requests.
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

    /// Whether the link may be much faster than measured, because there were only short transfers recently.
    package var mayBeFaster: Bool {
        let now = clock.now()
        return lock.withLock { line.isOfShort && (line.measured.map { now - $0 >= Self.longestTrust } ?? true) }
    }

    /// The lower one of the last rate and the average; nil while nothing was measured on this kind of link.
    package var bitsPerSecond: Double? {
        lock.withLock {
            guard let last = line.last, let average = line.average else { return nil }
            return min(last, average)
        }
    }
}

/// Measures one transfer while the link limits it. Pauses of the receiver do not count. Interruptions do not count
/// either, because the throughput may differ after them. A transfer that takes long is measured in sections.
///
/// Thread: the owner guards it: the network's thread calls `count`, and the reader's calls `resume`.
struct TransferMeter {
    /// The length of a section, in nanoseconds.
    private static let part: Int64 = 1_000_000_000
    /// The length of a section that suffices for a measurement even with few bytes, in nanoseconds.
    private static let longestPart: Int64 = 3_000_000_000
    /// A longer silence is an interruption, in nanoseconds. TLS delivers 16 KiB at once, which take this long at 26
    /// kbit/s.
    private static let longestSilence: Int64 = 5_000_000_000

    private let throughput: Throughput
    /// The start of the current section; nil while the receiver limits the transfer.
    private var start: Int64?
    private var lastArrival: Int64
    private var bytes = 0
    /// How often bytes have arrived in the current section.
    private var arrivals = 0
    /// Whether the section begins with the request.
    private var hasWait = true
    /// The latency of the answer, until a second arrival separates it from the transfer time.
    private var latency: Int64 = 0

    /// Begins to measure at the request.
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

    /// Ends a measurement: the transfer is complete, or the receiver has answered `.enough`.
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

    /// Measures again after the receiver has answered `.enough`.
    mutating func resume() { begin(throughput.now()) }

    private mutating func begin(_ now: Int64) {
        (start, lastArrival, bytes, arrivals) = (now, now, 0, 0)
        (hasWait, latency) = (false, 0)
    }
}
