/// Decides which representation of the same sound is fetched next, before every segment, and whether a transfer is
/// given up (docs/playback.md, 15.11). A value without a clock.
///
///     let choice = RepresentationChoice(bandwidths: [96_000, 320_000, 1_000_000])
///     choice.first(line: nil, usable: [true, true, true])        // 1: the guess of the line carries it
///     choice.next(situation)                                     // before each segment
///     choice.instead(of: transfer, situation)                    // while that segment arrives
///
/// Two rules shape the numbers. What has arrived outlasts a line that becomes as slow as the lowest representation for
/// the time in which no other change is made. A change that is given up before its first segment is there is none.
struct RepresentationChoice: Equatable, Sendable {
    /// Bits per second, the lowest first. At least one.
    let bandwidths: [Int]

    /// The line that a start without any measure assumes, in bits per second.
    static let guess = 500_000.0
    /// At least so long lies between two changes, in seconds.
    static let interval = 10.0
    /// With less than so many seconds left after the next segment, a representation that the line does not carry is
    /// left.
    static let reserve = 15.0
    /// With so many seconds, and a better representation to come, nothing more is fetched of the present one: the
    /// better one would be heard so much later.
    static let ample = 40.0

    /// The share of the line that a representation may need at the start, as a change, as an early change, and to stay.
    private static let (first, change, early, stay) = (0.7, 0.75, 0.4, 0.9)
    /// After so many segments a line that is much faster than needed is trusted, with less in the buffer than else.
    private static let earlySegments = 3
    /// The share of the measured rate that the rest of a transfer is expected to have.
    private static let caution = 0.8
    /// The seconds that are left at least when a transfer ends.
    private static let margin = 1.0

    /// What is known before a segment is fetched, and while it arrives.
    struct Situation: Equatable, Sendable {
        /// The representation that is fetched now, by its place in `bandwidths`.
        var current: Int
        /// The measured rate in bits per second; nil while nothing was measured.
        var line: Double?
        /// Whether the line may be much faster than measured: only short transfers were.
        var mayBeFaster = false
        /// Seconds of audio that have arrived and were not decoded.
        var buffered: Double
        /// The length of the next segment in seconds.
        var segment: Double
        /// Seconds since the first segment of the current representation was there; nil before the first change.
        var sinceChange: Double?
        /// How many segments of the current representation have arrived since the last change.
        var segments: Int
        /// Which representations may be chosen; the current one is among them.
        var usable: [Bool]
    }

    /// A transfer of a segment of the current representation.
    struct Transfer: Equatable, Sendable {
        var bytesLeft: Double
        /// The representation from which this segment is a change; nil when it is none.
        var changedFrom: Int?
    }

    /// The representation to begin with: the best one for the line.
    /// - Parameters:
    ///   - line: in bits per second; nil when this kind of link was not measured before.
    ///   - usable: the representations that may be chosen; without any, all are.
    func first(line: Double?, usable: [Bool]) -> Int {
        let usable = usable.contains(true) ? usable : bandwidths.map { _ in true }
        return best(within: (line ?? Self.guess) * Self.first, usable) ?? 0
    }

    /// The representation of the next segment.
    func next(_ now: Situation) -> Int {
        guard let line = now.line else { return now.current }
        let mayChange = now.sinceChange.map { $0 >= Self.interval } ?? true
        if mayChange, let better = better(now, line) { return better }
        let needed = seconds(now.current, now, line)
        let left = now.buffered - needed
        let isCarried = Double(bandwidths[now.current]) <= Self.stay * line && left > 0
        guard !isCarried, left < Self.reserve else { return now.current }
        // Silence is worse than a change that comes early.
        guard mayChange || left < rescue(now, line) else { return now.current }
        return lower(now, line)
    }

    /// The representation to fetch in place of a segment that arrives too late.
    /// - Returns: nil to let it arrive.
    func instead(of transfer: Transfer, _ now: Situation) -> Int? {
        guard let line = now.line, let lowest = lowest(now), lowest < now.current else { return nil }
        let left = transfer.bytesLeft * 8 / line
        guard left > Self.margin, left / Self.caution > now.buffered - leastAfter(transfer, now),
            seconds(lowest, now, line) < left * Self.caution
        else { return nil }
        let mayChange = transfer.changedFrom != nil || (now.sinceChange.map { $0 >= Self.interval } ?? true)
        guard mayChange || now.buffered < rescue(now, line) else { return nil }
        let other = lower(now, line)
        return other < now.current ? other : lowest
    }

    /// Whether a segment is fetched before others are decoded, although there is room in memory.
    func fetchesAhead(_ now: Situation) -> Bool {
        guard now.buffered >= Self.ample, let line = now.line else { return true }
        let isBest = now.usable.lastIndex(of: true).map { $0 <= now.current } ?? true
        // A line that does not carry this one is waited for as long as it takes.
        return isBest || line < Double(bandwidths[now.current])
    }

    // MARK: Steps

    /// A better one that the line carries, when enough has arrived to survive the next `interval`; the best one also
    /// when the line is so fast that the first segments show it.
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

    /// The one to change to when the current one takes too long. With little in the buffer it is the lowest one: a line
    /// that gets even slower leaves no time for another change.
    private func lower(_ now: Situation, _ line: Double) -> Int {
        let fitting = best(within: line * Self.change, now.usable) ?? now.current
        let isSafe = now.buffered >= Self.interval + Self.margin + 2 * now.segment
        return min(now.current, isSafe ? fitting : lowest(now) ?? fitting)
    }

    /// The seconds in the buffer that the end of a transfer leaves at least. A change is given up when its first
    /// segment would leave too few for the time in which it cannot be taken back.
    private func leastAfter(_ transfer: Transfer, _ now: Situation) -> Double {
        guard transfer.changedFrom != nil else { return Self.margin }
        let safe = Self.interval + Self.margin - now.segment
        // The first change of all may come early.
        return max(Self.margin, now.sinceChange == nil ? min(safe, 2 * now.segment) : safe)
    }

    /// The seconds in which a segment of the lowest representation arrives, and a little more.
    private func rescue(_ now: Situation, _ line: Double) -> Double {
        seconds(lowest(now) ?? now.current, now, line) + 1.5 * Self.margin
    }

    private func seconds(_ place: Int, _ now: Situation, _ line: Double) -> Double {
        Double(bandwidths[place]) * now.segment / line
    }

    private func lowest(_ now: Situation) -> Int? { now.usable.firstIndex(of: true) }

    /// The best one that needs at most `limit`; the lowest one when none does.
    private func best(within limit: Double, _ usable: [Bool]) -> Int? {
        let places = bandwidths.indices.filter { usable[$0] }
        return places.last { Double(bandwidths[$0]) <= limit } ?? places.first
    }
}
