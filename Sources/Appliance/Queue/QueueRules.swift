/// How a queue is played where the daemon and `tonearm play` differ.
public struct QueueRules: Equatable, Sendable {
    /// Whether a missing medium is waited for; otherwise the entry counts as one that cannot be played.
    public var waitsForMedium: Bool
    /// Whether an error of the device ends the queue: no other entry would fare better.
    public var deviceErrorEnds: Bool

    /// The device comes back, and so does the stick with the music.
    public static let appliance = QueueRules(waitsForMedium: true, deviceErrorEnds: false)
    /// A command that somebody waits for.
    public static let command = QueueRules(waitsForMedium: false, deviceErrorEnds: true)
}
