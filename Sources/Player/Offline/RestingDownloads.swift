/// The downloads that were given up for a reason outside of them, and have their turn again after a while: the service
/// is away, or the content did not come and the service has not said why (docs/playback.md, 16.8).
struct RestingDownloads: Equatable {
    /// All of them are skipped each time that the next ones are looked for.
    private static let most = 1024
    /// In nanoseconds; then twice as long each time.
    private static let firstDelay: Int64 = 1_000_000_000
    private static let longestDelay: Int64 = 60_000_000_000

    /// By the numbers of the jobs.
    private var products: [Int64: ServiceAddress] = [:]
    /// How often each was given up without a byte in between.
    private var attempts: [Int64: Int] = [:]
    /// The latest reason, for a person; nil while none rests.
    private(set) var reason: String?

    var count: Int { products.count }
    var isFull: Bool { count >= Self.most }

    func contains(_ number: Int64) -> Bool { products[number] != nil }

    /// - Parameter reason: nil: as before.
    /// - Returns: nanoseconds until `wake`.
    mutating func add(_ job: OfflineJob, _ reason: String?) -> Int64 {
        products[job.number] = job.product
        self.reason = reason ?? self.reason
        let former = attempts[job.number] ?? 0
        attempts[job.number] = min(former + 1, 6)
        return min(Self.firstDelay << Int64(former), Self.longestDelay)
    }

    /// It has its turn.
    mutating func wake(_ number: Int64) {
        products[number] = nil
        if products.isEmpty { reason = nil }
    }

    /// Its bytes come, or it has ended.
    mutating func forget(_ number: Int64) {
        wake(number)
        attempts[number] = nil
    }

    /// Those of a product, or all, have their turn at once.
    mutating func forget(_ product: ServiceAddress?) {
        guard let product else {
            self = RestingDownloads()
            return
        }
        for (number, resting) in products where resting == product { forget(number) }
    }
}
