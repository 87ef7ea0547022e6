/// The differences between the queue of the daemon and of `tonearm play`.
public struct QueueRules: Equatable, Sendable {
    /// Whether to wait for a missing medium; otherwise the entry counts as failed.
    public var waitsForMedium: Bool
    /// Whether an error of the device ends the queue: all other entries would fail too.
    public var deviceErrorEnds: Bool

    /// The device may come back, and the stick with the music too.
    public static let appliance = QueueRules(waitsForMedium: true, deviceErrorEnds: false)
    /// A command that a person waits for.
    public static let command = QueueRules(waitsForMedium: false, deviceErrorEnds: true)
}
