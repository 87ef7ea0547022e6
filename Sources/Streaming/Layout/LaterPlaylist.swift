import Fetching
import Manifests
import Media
import Network
import Platform

/// A variant of a master playlist that is not played yet. Its playlist is loaded in the background while another
/// variant plays.
///
/// Thread: the decoder thread.
final class LaterPlaylist {
    /// The variant as the master playlist describes it.
    let representation: Representation
    private let load: (Patience) throws(MediaError) -> Representation
    private let begin: () -> PlaylistLoad
    private let read: (WholeAnswer.Content) throws(MediaError) -> Representation
    private var loading: PlaylistLoad?
    private var isUseless = false
    private let clock: any MonotonicClock
    private var attempts = Attempts()
    private var known: Representation?
    private var parts = Parts()

    /// The attempts after failures. Times are in nanoseconds.
    private struct Attempts {
        private static let longestPause: Int64 = 300_000_000_000

        /// The time of the next attempt after a failure; nil without a failure.
        private(set) var next: Int64?
        /// The time from the next failure to the attempt after it.
        private var pause: Int64 = 30_000_000_000

        mutating func failed(at now: Int64) {
            next = now + pause
            pause = min(2 * pause, Self.longestPause)
        }
    }

    /// The parts of the variant.
    private struct Parts {
        /// The index ranges of its segments, one for each part.
        var division: [Range<Int>]?
        /// The result of the last call of `part`.
        var last: (index: Int, part: Representation?)?
    }

    /// - Parameters:
    ///   - begin: begins to load the playlist.
    ///   - read: parses it.
    ///   - load: loads and parses it; blocks meanwhile.
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

    /// Begins to load the playlist, unless that has been done.
    func prepare() {
        guard known == nil, loading == nil, !isUseless else { return }
        if let next = attempts.next, clock.now() < next { return }
        loading = begin()
    }

    /// The variant with its segments; nil while they are not loaded.
    var loaded: Representation? {
        guard known == nil, !isUseless, let loading, let result = loading.result else { return known }
        self.loading = nil
        do throws(ResourceFailure) {
            let content = try result.get()
            do throws(MediaError) { known = try read(content) } catch { isUseless = true }
        } catch {
            // Counts as a temporary failure, because one answer proves little about the next one.
            attempts.failed(at: clock.now())
        }
        return known
    }

    /// Returns one part of the variant, as the layout divides the content; nil while it is not loaded, and when it is
    /// divided differently.
    func part(_ index: Int, of layout: ContentLayout) -> Representation? {
        guard let loaded else { return nil }
        if let last = parts.last, last.index == index { return last.part }
        let division = parts.division ?? layout.division(of: loaded)
        parts.division = division
        let part = layout.part(index, of: loaded, division)
        parts.last = (index, part)
        return part
    }

    /// Loads the playlist, unless that has been done, and blocks until its segments are known.
    func load(_ patience: Patience) throws(MediaError) {
        if loaded == nil { known = try load(patience) }
    }
}

/// A request for a playlist that is loaded in the background.
struct PlaylistLoad {
    private let answer = WholeAnswer()
    private let transfer: ResourceTransfer

    init(_ request: TransferRequest, at addresses: ResourceAddresses, over network: any ServiceNetwork) {
        var request = request
        request.maximumBody = Int64(ServiceRequests.longestAnswer)
        transfer = ResourceTransfer(request, over: network, continues: false, at: addresses, into: answer)
    }

    /// The result; nil until the request has ended.
    var result: Result<WholeAnswer.Content, ResourceFailure>? { answer.result }

    func cancel() { transfer.cancel() }
}
