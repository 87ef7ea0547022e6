/// The requests that were passed to the engine.
struct EngineRequests {
    private var lastSerial: UInt64 = 0
    /// The request that the engine plays or will play; nil without one. Messages about earlier requests are outdated.
    var loaded: PlaybackRequest?
    /// The request that the engine has as its next one.
    var planned: PlaybackRequest?

    /// Returns a request with a new serial.
    mutating func new(_ entry: EntryID) -> PlaybackRequest {
        lastSerial += 1
        return PlaybackRequest(entry, serial: lastSerial)
    }

    mutating func forget() {
        loaded = nil
        planned = nil
    }
}
