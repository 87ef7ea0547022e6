import Platform

/// One playback of a product, as the play log and the service identify it. A source that has to start over ends it and
/// begins a new one (docs/playback.md, 15.5).
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class PlaybackSession: @unchecked Sendable {
    private let lock = Lock()
    private var current: String
    private let newID: @Sendable () -> String
    private let renewed: @Sendable (String) -> Void

    /// - Parameters:
    ///   - newID: returns an id that no other playback has.
    ///   - renewed: called with the id of a new session, on the thread that began it.
    public init(
        newID: @escaping @Sendable () -> String = { SystemRandomSource().uuid() },
        renewed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.newID = newID
        self.renewed = renewed
        current = newID()
    }

    /// Identifies the playback: the context's `playbackSessionId`, and the `streamingSessionId` of all requests.
    public var id: String { lock.withLock { current } }

    /// Ends the session and begins a new one.
    public func renew() {
        let id = newID()
        lock.withLock { current = id }
        renewed(id)
    }
}
