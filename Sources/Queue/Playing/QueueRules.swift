/// The differences between the queues of the daemon and of `tonearm play`.
package struct QueueRules: Equatable, Sendable {
    /// Whether to wait for a missing medium, and for a service that is away; otherwise the entry counts as failed.
    package var waits: Bool
    /// Whether an error of the device ends the queue: all other entries would fail too.
    package var deviceErrorEnds: Bool

    /// The device may come back, and so may the stick with the music and the service.
    package static let appliance = QueueRules(waits: true, deviceErrorEnds: false)
    /// A command whose user waits for its end.
    package static let command = QueueRules(waits: false, deviceErrorEnds: true)

    /// Returns how a failure counts under these rules.
    func failure(_ failure: EntryFailure) -> EntryFailure { waits ? failure : .ofEntry }
}
