import Playback

/// The products that the service was asked about in re-validations. Each is asked about at most once a round, and at
/// most once an hour, whatever the answer was. They are held in memory only, and their number is limited. At the limit,
/// the service is not asked until the oldest entries are an hour old.
///
///     asked.beginRound(at: now)
///     if asked.allows(product, at: now) { asked.insert(product, at: now) }
struct AskedProducts {
    /// The least time between two requests about a product, in nanoseconds.
    static let interval: Int64 = 3_600_000_000_000
    /// 16 bytes each.
    static let limit = 100_000

    /// The time of the request about each product, by the hash of its address.
    private var times: [UInt64: Int64] = [:]
    private var roundTime: Int64 = .min

    /// - Parameter now: the time of a monotonic clock in nanoseconds, like all times here.
    mutating func beginRound(at now: Int64) {
        roundTime = now
        times = times.filter { now - $0.value < Self.interval }
    }

    var isFull: Bool { times.count >= Self.limit }

    func allows(_ product: ServiceAddress, at now: Int64) -> Bool {
        guard let time = times[Self.hash(product)] else { return !isFull }
        return time < roundTime && now - time >= Self.interval
    }

    mutating func insert(_ product: ServiceAddress, at now: Int64) { times[Self.hash(product)] = now }

    /// Forgets a product whose request was ended before its answer.
    mutating func remove(_ product: ServiceAddress) { times[Self.hash(product)] = nil }

    /// FNV-1a. Two products with the same hash wait for each other, which is harmless.
    private static func hash(_ product: ServiceAddress) -> UInt64 {
        product.text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
