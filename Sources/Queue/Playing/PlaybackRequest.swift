/// A request of the conductor to the playback engine for an entry of the queue. The engine's messages, which arrive
/// later, contain its reference id. The serial shows whether a message is outdated.
struct PlaybackRequest: Equatable {
    let entry: EntryID
    /// Ascends with each request.
    let serial: UInt64

    init(_ entry: EntryID, serial: UInt64) {
        self.entry = entry
        self.serial = serial
    }

    /// `entry.serial`
    var referenceId: String { "\(entry.number).\(serial)" }

    /// Returns nil when the text is not a reference id of a conductor.
    init?(referenceId: String) {
        let parts = referenceId.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let entry = UInt32(Substring(parts[0])), let serial = UInt64(Substring(parts[1]))
        else { return nil }
        self.init(EntryID(entry), serial: serial)
    }
}
