/// Decides before every segment which representation of the same sound is fetched next, and whether a transfer is given
/// up (docs/playback.md, 15.11). A value without a clock. The "line" is the measured throughput of the link.
///
///     let choice = RepresentationChoice(bandwidths: [96_000, 320_000, 1_000_000])
///     choice.first(line: nil, usable: [true, true, true])        // 1: the guess of the line carries it
///     choice.next(situation)                                     // before each segment
///     choice.instead(of: transfer, situation)                    // while that segment arrives
///
/// Two rules determine the numbers. The buffer must last while the throughput drops to the lowest representation, for
/// the time in which no other change is made. A change that is given up before its first segment has arrived does not
/// count.
struct RepresentationChoice: Equatable, Sendable {
    /// Bits per second, the lowest first. At least one.
    let bandwidths: [Int]

    /// The throughput that a start without measurements assumes, in bits per second.
    static let guess = 500_000.0
    /// The minimum time between two changes, in seconds.
    static let interval = 10.0
    /// A representation that needs more than the throughput is left when fewer seconds than this remain after the next
    /// segment.
    static let reserve = 15.0
    /// With this many seconds buffered and a better representation available, nothing more of the current one is
    /// fetched. More would delay the better one by the same time.
    static let ample = 40.0

    /// The share of the throughput that a representation may need: at the start, as a change, as an early change, and
    /// to stay.
    private static let (first, change, early, stay) = (0.7, 0.75, 0.4, 0.9)
    /// After this many segments of a bridge a better representation follows, without the rest of `interval`.
    private static let bridgeSegments = 2
    /// After this many segments, a throughput far above the need is trusted, with a smaller buffer than otherwise.
    private static let earlySegments = 3
    /// The share of the measured rate that is expected for the rest of a transfer.
    private static let caution = 0.8
    /// The minimum number of seconds in the buffer when a transfer ends.
    private static let margin = 1.0

    /// The state of playback and transfers, before a segment is fetched and while it arrives.
    struct Situation: Equatable, Sendable {
        /// The representation that is being fetched, as an index in `bandwidths`.
        var current: Int
        /// The measured rate in bits per second; nil while nothing was measured.
        var line: Double?
        /// Whether the link may be much faster than measured, because there were only short transfers.
        var mayBeFaster = false
        /// Seconds of audio that have arrived and are not decoded yet.
        var buffered: Double
        /// The length of the next segment in seconds.
        var segment: Double
        /// Seconds since the first segment of the current representation had arrived; nil before the first change.
        var sinceChange: Double?
        /// How many segments of the current representation have arrived since the last change.
        var segments: Int
        /// Whether the current representation bridges a shortage: the line carried a better one at the change to it.
        var isBridge = false
        /// Which representations may be chosen; the current one is among them.
        var usable: [Bool]

        /// Whether a change is allowed that no silence demands.
        fileprivate var mayChange: Bool {
            guard let sinceChange, sinceChange < RepresentationChoice.interval else { return true }
            return isBridge && segments >= RepresentationChoice.bridgeSegments
        }
    }

    /// A transfer of a segment of the current representation.
    struct Transfer: Equatable, Sendable {
        var bytesLeft: Double
        /// The previous representation, when this segment is the first one after a change; nil otherwise.
        var changedFrom: Int?
    }

    /// Returns the representation to begin with: the best one for the throughput.
    /// - Parameters:
    ///   - line: the throughput in bits per second; nil when this kind of link was not measured before.
    ///   - usable: the representations that may be chosen; when none may, all are.
    func first(line: Double?, usable: [Bool]) -> Int {
        let usable = usable.contains(true) ? usable : bandwidths.map { _ in true }
        return best(within: (line ?? Self.guess) * Self.first, usable) ?? 0
    }

    /// Returns the representation of the next segment.
    func next(_ now: Situation) -> Int {
        guard let line = now.line else { return now.current }
        let mayChange = now.mayChange
        if mayChange, let better = better(now, line) { return better }
        let needed = seconds(now.current, now, line)
        let left = now.buffered - needed
        let isCarried = Double(bandwidths[now.current]) <= Self.stay * line && left > 0
        guard !isCarried, left < Self.reserve else { return now.current }
        // Silence is worse than an early change.
        guard mayChange || left < rescue(now, line) else { return now.current }
        return lower(now, line)
    }

    /// Returns the representation to fetch instead of a segment that arrives too late.
    /// - Returns: nil to let the segment arrive.
    func instead(of transfer: Transfer, _ now: Situation) -> Int? {
        guard let line = now.line, let lowest = lowest(now), lowest < now.current else { return nil }
        let left = transfer.bytesLeft * 8 / line
        guard left > Self.margin, left / Self.caution > now.buffered - leastAfter(transfer, now),
            seconds(lowest, now, line) < left * Self.caution
        else { return nil }
        guard transfer.changedFrom != nil || now.mayChange || now.buffered < rescue(now, line) else { return nil }
        // The line carries the previous representation, and a segment of it arrives in time: only the change fails.
        if let former = transfer.changedFrom, former < now.current, now.usable[former],
            Double(bandwidths[former]) <= Self.change * line,
            seconds(former, now, line) / Self.caution < now.buffered - rescue(now, line)
        {
            return former
        }
        let other = lower(now, line)
        return other < now.current ? other : lowest
    }

    /// Returns whether a segment is fetched before others are decoded, given that memory has room.
    func fetchesAhead(_ now: Situation) -> Bool {
        guard let line = now.line else { return true }
        // Segments that are fetched before the next change is allowed delay the better representation. This much lasts
        // until then, and is then enough for the change.
        if let sinceChange = now.sinceChange, !now.mayChange, fitting(now, line) > now.current,
            now.buffered >= 2 * Self.interval + Self.margin - sinceChange
        {
            return false
        }
        guard now.buffered >= Self.ample else { return true }
        let isBest = now.usable.lastIndex(of: true).map { $0 <= now.current } ?? true
        // With a throughput below the current bandwidth no better representation follows: continue to fetch.
        return isBest || line < Double(bandwidths[now.current])
    }

    /// Returns whether a representation is below what the line carries: it only fills the buffer.
    func isBridge(_ place: Int, _ now: Situation) -> Bool {
        guard place < now.current, let line = now.line else { return false }
        return place < fitting(now, line)
    }

    // MARK: Steps

    /// Returns a better representation within the throughput, when the buffer lasts for the next `interval`. Also
    /// returns the best one when the throughput is so high that the first segments show it.
    private func better(_ now: Situation, _ line: Double) -> Int? {
        guard let top = now.usable.lastIndex(of: true), top > now.current else { return nil }
        let isSafe = now.buffered >= Self.interval + Self.margin
        guard isSafe else {
            let isEarly = now.segments >= Self.earlySegments && Double(bandwidths[top]) <= Self.early * line
            return isEarly ? top : nil
        }
        if let place = best(within: line * Self.change, now.usable), place > now.current { return place }
        guard now.mayBeFaster, now.buffered >= 2 * Self.reserve else { return nil }
        return bandwidths.indices.first { $0 > now.current && now.usable[$0] }
    }

    /// Returns the representation to change to when the current one takes too long. With a small buffer it is the
    /// lowest one, because a further drop leaves no time for another change.
    private func lower(_ now: Situation, _ line: Double) -> Int {
        let fitting = fitting(now, line)
        let isSafe = now.buffered >= Self.interval + Self.margin + 2 * now.segment
        return min(now.current, isSafe ? fitting : lowest(now) ?? fitting)
    }

    /// Returns the minimum number of buffered seconds at the end of a transfer. A change is given up when its first
    /// segment would leave too few for the time in which it cannot be undone.
    private func leastAfter(_ transfer: Transfer, _ now: Situation) -> Double {
        guard transfer.changedFrom != nil else { return Self.margin }
        let safe = Self.interval + Self.margin - now.segment
        // The very first change may be early.
        return max(Self.margin, now.sinceChange == nil ? min(safe, 2 * now.segment) : safe)
    }

    /// Returns the seconds in which a segment of the lowest representation arrives, with a margin.
    private func rescue(_ now: Situation, _ line: Double) -> Double {
        seconds(lowest(now) ?? now.current, now, line) + 1.5 * Self.margin
    }

    private func seconds(_ place: Int, _ now: Situation, _ line: Double) -> Double {
        Double(bandwidths[place]) * now.segment / line
    }

    private func lowest(_ now: Situation) -> Int? { now.usable.firstIndex(of: true) }

    /// Returns the best representation that the line carries.
    private func fitting(_ now: Situation, _ line: Double) -> Int {
        best(within: line * Self.change, now.usable) ?? now.current
    }

    /// Returns the best representation that needs at most `limit`; the lowest one when none does.
    private func best(within limit: Double, _ usable: [Bool]) -> Int? {
        let places = bandwidths.indices.filter { usable[$0] }
        return places.last { Double(bandwidths[$0]) <= limit } ?? places.first
    }
}
