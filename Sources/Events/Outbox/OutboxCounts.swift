/// The limits of the outbox.
package enum OutboxLimits {
    /// The longest event, in bytes of its body.
    package static let event = 20_480
    /// The default of the sum of all bodies, in bytes.
    package static let outbox: Int64 = 20_000_000
}

/// The numbers of the outbox for users.
package struct OutboxCounts: Equatable, Sendable {
    package var waiting: Int64 = 0
    /// The bytes of the waiting events, and of those that were put aside.
    package var bytes: Int64 = 0
    /// Confirmed by the service.
    package var sent: Int64 = 0
    /// Refused by the service for good.
    package var refused: Int64 = 0
    /// Dropped because the outbox was full.
    package var dropped: Int64 = 0
    /// Dropped because they were too long.
    package var oversized: Int64 = 0

    package init(
        waiting: Int64 = 0, bytes: Int64 = 0, sent: Int64 = 0, refused: Int64 = 0, dropped: Int64 = 0,
        oversized: Int64 = 0
    ) {
        self.waiting = waiting
        self.bytes = bytes
        self.sent = sent
        self.refused = refused
        self.dropped = dropped
        self.oversized = oversized
    }
}
