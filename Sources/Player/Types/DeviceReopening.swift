/// What a device does that is reopened for another sample rate or channel count: between two products, inside one,
/// or after a jump. The playback state does not tell of it.
public enum DeviceReopening: Sendable {
    /// The device has stopped: what came before was heard, or is not wanted any more. It stays silent until `goOn` is
    /// called, from any thread, or something else is requested of the engine. What is requested may lead to another
    /// question; then an earlier `goOn` does nothing.
    case asked(goOn: @Sendable () -> Void)
    /// The device runs again, for the first time since the last `asked`.
    case started
}
