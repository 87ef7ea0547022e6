/// The differences between the queues of the daemon and of `tonearm play`.
package struct QueueRules: Equatable, Sendable {
    /// Whether to wait for a missing medium, and for a service that is away; otherwise the entry counts as failed.
    package var waits: Bool
    /// Whether an error of the device ends the queue: all other entries would fail too.
    package var deviceErrorEnds: Bool

    /// The rules of the daemon. It waits, because the device, the stick with the music and the service may return.
    package static let appliance = QueueRules(waits: true, deviceErrorEnds: false)
    /// The rules of a command, whose user waits for its end.
    package static let command = QueueRules(waits: false, deviceErrorEnds: true)

    /// Returns how a failure counts under these rules.
    func failure(_ failure: EntryFailure) -> EntryFailure { waits ? failure : .ofEntry }
}
