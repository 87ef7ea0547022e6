/// The requests that the engine has.
struct EngineRequests {
    private var lastSerial: UInt64 = 0
    /// The request that the engine plays or will play; nil without one. Messages about earlier requests are outdated.
    var loaded: PlaybackRequest?
    /// The request that the engine has as its next one.
    var planned: PlaybackRequest?

    /// Returns a request with a serial that no earlier one has.
    mutating func new(_ entry: EntryID) -> PlaybackRequest {
        lastSerial += 1
        return PlaybackRequest(entry, serial: lastSerial)
    }

    mutating func forget() {
        loaded = nil
        planned = nil
    }
}
