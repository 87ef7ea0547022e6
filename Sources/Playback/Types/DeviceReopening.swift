/// The steps of reopening a device for another sample rate or channel count: between two products, inside one, or after
/// a seek. The playback state does not change during it.
public enum DeviceReopening: Sendable {
    /// The device has stopped. Earlier frames were heard, or are dropped. It stays silent until `proceed` is called,
    /// from any thread, or another request to the engine follows. Such a request may cause another `asked`; then an
    /// earlier `proceed` does nothing.
    case asked(proceed: @Sendable () -> Void)
    /// The device runs again, for the first time since the last `asked`.
    case started
}
