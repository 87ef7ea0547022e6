import Playback

/// The downloads that were given up for an outside reason and are retried after a while. The service is away, or the
/// content did not arrive and the service gave no reason (docs/playback.md, 16.8).
struct RestingDownloads: Equatable {
    /// The limit: each search for the next downloads has to skip all of them.
    private static let most = 1024
    /// The first delay in nanoseconds; it doubles each time.
    private static let firstDelay: Int64 = 1_000_000_000
    private static let longestDelay: Int64 = 60_000_000_000

    /// The resting products by the numbers of their downloads.
    private var products: [Int64: ServiceAddress] = [:]
    /// How often each was given up without progress in between.
    private var attempts: [Int64: Int] = [:]
    /// The latest reason, for the user; nil while none rests.
    private(set) var reason: String?

    var count: Int { products.count }
    var isFull: Bool { count >= Self.most }

    func contains(_ number: Int64) -> Bool { products[number] != nil }

    /// - Parameter reason: nil leaves the former reason.
    /// - Returns: nanoseconds until `wake`.
    mutating func add(_ download: QueuedDownload, _ reason: String?) -> Int64 {
        products[download.number] = download.product
        self.reason = reason ?? self.reason
        let former = attempts[download.number] ?? 0
        attempts[download.number] = min(former + 1, 6)
        return min(Self.firstDelay << Int64(former), Self.longestDelay)
    }

    /// Ends the rest of a download.
    mutating func wake(_ number: Int64) {
        products[number] = nil
        if products.isEmpty { reason = nil }
    }

    /// Forgets a download whose bytes arrive, or that has ended.
    mutating func forget(_ number: Int64) {
        wake(number)
        attempts[number] = nil
    }

    /// Ends the rest of the downloads of a product, or of all.
    mutating func forget(_ product: ServiceAddress?) {
        guard let product else {
            self = RestingDownloads()
            return
        }
        for (number, resting) in products where resting == product { forget(number) }
    }
}
