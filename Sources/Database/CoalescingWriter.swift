/// Decides when changes are written, as a value. One write at a time takes all changes so far; the changes meanwhile
/// are in the next one.
///
///     var writer = CoalescingWriter()
///     writer.change()                  // true: begin a write
///     writer.change()                  // false: the write takes this change too, if it has not run yet
///     writer.take()                    // the write has taken all changes
///     writer.end(succeeded: true)      // false: this was expected
///     writer.begin()                   // false: nothing has changed since
///
/// Thread: any; the owner serialises calls.
public struct CoalescingWriter: Equatable, Sendable {
    /// Whether a write has begun and not ended.
    public private(set) var isWriting = false
    /// Whether the last write has failed.
    public private(set) var hasFailed: Bool
    /// Whether no further write begins.
    public private(set) var isClosed = false
    /// Whether some changes were not taken by a write, or belong to a failed write.
    private var hasChanges = false
    /// Whether writes wait, because the last one has just ended.
    private var isResting = false
    private var waitsForRetry = false

    /// - Parameter hasFailed: whether writing is known to fail.
    public init(hasFailed: Bool = false) { self.hasFailed = hasFailed }

    /// Notes a change.
    /// - Returns: whether a write begins now.
    public mutating func change() -> Bool {
        hasChanges = true
        return begin()
    }

    /// Begins a write of changes that wait.
    /// - Returns: false when there are none, a write runs, or writes rest.
    public mutating func begin() -> Bool {
        guard hasChanges, !isWriting, !isResting, !isClosed else { return false }
        isWriting = true
        return true
    }

    /// Notes that the write has taken all changes so far, or that there is nothing to write.
    public mutating func take() { hasChanges = false }

    /// Ends a write that has found nothing to write.
    public mutating func skip() { isWriting = false }

    /// Ends a write. The changes of a failed one wait for the next change, or for `retry`.
    /// - Returns: whether writing begins to fail, or to work again.
    public mutating func end(succeeded: Bool) -> Bool {
        isWriting = false
        defer { hasFailed = !succeeded }
        if !succeeded { hasChanges = true }
        return hasFailed == succeeded
    }

    // MARK: Delays

    /// Waits for a retry of a failed write.
    /// - Returns: whether the caller sets a timer for `retry`. One timer is enough.
    public mutating func waitForRetry() -> Bool {
        defer { waitsForRetry = true }
        return !waitsForRetry
    }

    /// Ends the wait for a retry.
    /// - Returns: whether a write begins now.
    public mutating func retry() -> Bool {
        waitsForRetry = false
        return begin()
    }

    /// Lets no write begin until `endRest`.
    /// - Returns: whether the caller sets a timer for `endRest`.
    public mutating func rest() -> Bool {
        defer { isResting = true }
        return !isResting
    }

    /// - Returns: whether a write begins now.
    public mutating func endRest() -> Bool {
        isResting = false
        return begin()
    }

    /// Lets no write begin from now on.
    public mutating func close() { isClosed = true }
}
