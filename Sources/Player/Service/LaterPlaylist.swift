import Media
import Network
import Platform

/// A variant of a master playlist that is not played yet. Its playlist is loaded while another variant plays, and
/// nothing waits for it.
///
/// Thread: the decoder thread.
final class LaterPlaylist {
    /// In the master playlist.
    let representation: Representation
    private let load: (Patience) throws(MediaError) -> Representation
    private let begin: () -> PlaylistLoad
    private let read: (WholeAnswer.Content) throws(MediaError) -> Representation
    private var loading: PlaylistLoad?
    private var isUseless = false
    private let clock: any MonotonicClock
    /// When it is loaded again after a failure; nil without one.
    private var nextAttempt: Int64?
    /// From the next failure to the attempt after it, in nanoseconds.
    private var pause: Int64 = 30_000_000_000
    private static let longestPause: Int64 = 300_000_000_000
    private var known: Representation?
    /// The places of its segments, part by part.
    private var division: [Range<Int>]?
    /// What was asked for last.
    private var lastPart: (place: Int, part: Representation?)?

    /// - Parameters:
    ///   - begin: begins to load the playlist.
    ///   - read: reads it.
    ///   - load: loads and reads it, and blocks meanwhile.
    init(
        _ representation: Representation, clock: any MonotonicClock = SystemMonotonicClock(),
        begin: @escaping () -> PlaylistLoad,
        read: @escaping (WholeAnswer.Content) throws(MediaError) -> Representation,
        load: @escaping (Patience) throws(MediaError) -> Representation
    ) {
        (self.representation, self.clock) = (representation, clock)
        (self.begin, self.read, self.load) = (begin, read, load)
    }

    deinit { loading?.cancel() }

    /// Begins to load it, unless that was done before.
    func prepare() {
        guard known == nil, loading == nil, !isUseless else { return }
        if let nextAttempt, clock.now() < nextAttempt { return }
        loading = begin()
    }

    /// With its segments; nil while they are not there.
    var loaded: Representation? {
        guard known == nil, !isUseless, let loading, let result = loading.result else { return known }
        self.loading = nil
        do throws(ResourceFailure) {
            let content = try result.get()
            do throws(MediaError) { known = try read(content) } catch { isUseless = true }
        } catch {
            // One answer says little about the next one.
            nextAttempt = clock.now() + pause
            pause = min(2 * pause, Self.longestPause)
        }
        return known
    }

    /// A part of it, as the layout divides the content; nil while it is not loaded, and when it is divided otherwise.
    func part(_ place: Int, of layout: ContentLayout) -> Representation? {
        guard let loaded else { return nil }
        if let lastPart, lastPart.place == place { return lastPart.part }
        let division = self.division ?? layout.division(of: loaded)
        self.division = division
        let part = layout.part(place, of: loaded, division)
        lastPart = (place, part)
        return part
    }

    /// Loads it, unless that was done before, and waits for its segments.
    func load(_ patience: Patience) throws(MediaError) {
        if loaded == nil { known = try load(patience) }
    }
}

/// A request for a playlist for which nothing waits.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards what changes.
final class PlaylistLoad: ResourceReceiver, @unchecked Sendable {
    private let lock = Lock()
    private var content = WholeAnswer.Content(body: [], url: "")
    private var outcome: Result<WholeAnswer.Content, ResourceFailure>?
    private var transfer: ResourceTransfer?

    init(_ request: TransferRequest, at addresses: ResourceAddresses, over network: any ServiceNetwork) {
        var request = request
        request.maximumBody = Int64(ServiceRequests.longestAnswer)
        let transfer = ResourceTransfer(request, over: network, continues: false, at: addresses, into: self)
        lock.withLock { if outcome == nil { self.transfer = transfer } }
    }

    /// nil while it is not over.
    var result: Result<WholeAnswer.Content, ResourceFailure>? { lock.withLock { outcome } }

    func cancel() {
        let transfer = lock.withLock { self.transfer }
        transfer?.cancel()
    }

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock { content = WholeAnswer.Content(body: [], url: head.effectiveURL) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        lock.withLock { content.body.append(contentsOf: bytes) }
        return .more
    }

    func ended(_ failure: ResourceFailure?) {
        lock.withLock {
            if let failure { outcome = .failure(failure) } else { outcome = .success(content) }
            transfer = nil
        }
    }
}
