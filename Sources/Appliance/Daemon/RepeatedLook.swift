/// A slow query that is repeated when its subject has changed. Any number of changes while a query runs cause only one
/// more query.
struct RepeatedLook {
    private var isLooking = false
    private var hasChanged = false

    /// Notes a change.
    /// - Returns: whether to query now.
    mutating func begin() -> Bool {
        hasChanged = isLooking
        defer { isLooking = true }
        return !isLooking
    }

    /// Notes that the answer has arrived.
    /// - Returns: whether to query again: call `begin`.
    mutating func end() -> Bool {
        isLooking = false
        return hasChanged
    }
}
