/// Decides how long a wait for changes lasts, without a clock and without I/O. Changes that follow each other quickly
/// are one group: an album is copied, or a file gets tags.
struct ChangeGroup {
    /// The quiet time that ends a group of changes, in nanoseconds.
    static let quietTime: Int64 = 500_000_000
    /// The longest duration of a group, in nanoseconds.
    static let longestGroup: Int64 = 10_000_000_000

    /// When the wait for the first change ends; nil: never.
    private let patience: Int64?
    /// When the group ends at the latest; nil before the first change.
    private var limit: Int64?

    /// - Parameter milliseconds: the longest wait for the first change; less than 0: without limit.
    init(milliseconds: Int, at now: Int64) {
        patience = milliseconds < 0 ? nil : Self.end(of: milliseconds, from: now)
    }

    /// When a wait of so many milliseconds ends, in nanoseconds.
    static func end(of milliseconds: Int, from now: Int64) -> Int64 { now + Int64(clamping: milliseconds) * 1_000_000 }

    /// When to stop waiting for the next event; nil: without limit.
    func end(at now: Int64) -> Int64? { limit == nil ? patience : now + Self.quietTime }

    /// Takes an event.
    /// - Parameter hasChanges: whether it, or an earlier one, is a change. Events of files that are not read may arrive
    ///   faster than a wait ends.
    /// - Returns: whether the wait is over.
    mutating func isOver(hasChanges: Bool, at now: Int64) -> Bool {
        guard hasChanges else { return patience.map { now >= $0 } ?? false }
        if let limit { return now >= limit }
        limit = now + Self.longestGroup
        return false
    }
}
