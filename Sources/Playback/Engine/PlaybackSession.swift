import Platform

/// One playback of a product, as the play log and the service identify it. A source that has to start over ends the
/// session and begins a new one (docs/playback.md, 15.5).
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
public final class PlaybackSession: @unchecked Sendable {
    private let lock = Lock()
    private var current: String
    private let newID: @Sendable () -> String
    private let renewed: @Sendable (String) -> Void
    private let fetched: @Sendable (FetchReport) -> Void

    /// - Parameters:
    ///   - newID: returns an id that no other playback has.
    ///   - renewed: called with the id of a new session, on the thread that began it.
    public convenience init(
        newID: @escaping @Sendable () -> String = { SystemRandomSource().uuid() },
        renewed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(newID: newID, renewed: renewed, fetched: { _ in })
    }

    /// - Parameter fetched: called when a fetch has begun or ended, on the thread that makes it.
    package init(
        newID: @escaping @Sendable () -> String, renewed: @escaping @Sendable (String) -> Void,
        fetched: @escaping @Sendable (FetchReport) -> Void
    ) {
        self.newID = newID
        self.renewed = renewed
        self.fetched = fetched
        current = newID()
    }

    /// Identifies the playback: the context's `playbackSessionId`, and the `streamingSessionId` of all requests.
    public var id: String { lock.withLock { current } }

    /// Fetches a playbackinfo or a license for the session, and reports the fetch with all its retries.
    package func reporting<Result, Failure: FetchFailure>(
        _ resource: ServiceFetch.Resource, _ fetch: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let clock = SystemMonotonicClock()
        let began = clock.now()
        fetched(.began(resource))
        func report(_ end: ServiceFetch.End) {
            fetched(.ended(ServiceFetch(resource, milliseconds: (clock.now() - began) / 1_000_000, end)))
        }
        do throws(Failure) {
            let result = try fetch()
            report(.complete)
            return result
        } catch {
            report(error.fetchEnd)
            throw error
        }
    }

    /// Ends the session and begins a new one.
    public func renew() {
        let id = newID()
        lock.withLock { current = id }
        renewed(id)
    }
}
