/// Which encoding of the same sound is fetched next (docs/playback.md, 15.11). A value without a clock.
struct AdaptiveChoice: Equatable, Sendable {
    /// Bits per second, the lowest first. At least one.
    let bandwidths: [Int]

    /// With less audio than this ahead of the decoder, playing on matters more than quality. In seconds.
    static let short = 6.0
    /// With at least as much, a better encoding is tried.
    static let comfortable = 12.0
    /// Of the line that an encoding may need at first. A step up that is taken back soon is worse than none.
    static let share = 0.7
    /// With at least as much, a slow line is waited out.
    static let ample = 30.0

    /// The encoding to begin with: without a measurement the best one, which the service has chosen.
    /// - Parameter usable: the places that may be chosen; without any, all are.
    func first(throughput: Double?, usable: [Bool]) -> Int {
        let usable = usable.contains(true) ? usable : bandwidths.map { _ in true }
        guard let throughput else { return usable.lastIndex(of: true) ?? 0 }
        return best(within: throughput * Self.share, usable) ?? 0
    }

    /// - Parameters:
    ///   - current: the encoding that is fetched now, by its place in `bandwidths`.
    ///   - throughput: in bits per second; nil while nothing was measured.
    ///   - buffered: seconds of audio ahead of the decoder.
    ///   - usable: the places that may be chosen; the current one is among them.
    /// - Returns: a place in `bandwidths`.
    func next(current: Int, throughput: Double?, buffered: Double, usable: [Bool]) -> Int {
        guard let throughput else { return current }
        func best(within share: Double) -> Int { self.best(within: throughput * share, usable) ?? current }
        if buffered < Self.short { return min(current, best(within: 0.5)) }
        if buffered >= Self.comfortable {
            let better = best(within: Self.share)
            if better > current { return better }
        }
        if buffered >= Self.ample { return current }
        return min(current, best(within: 0.9))
    }

    /// The best one that needs at most `limit`; the lowest one when none does.
    private func best(within limit: Double, _ usable: [Bool]) -> Int? {
        let places = bandwidths.indices.filter { usable[$0] }
        return places.last { Double(bandwidths[$0]) <= limit } ?? places.first
    }
}
