import Database
import Network
import Platform
import Playback

/// Carries out the re-validations that `RevalidationRound` decides: their thread, their timers, and the search for due
/// products.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class OfflineValidations: @unchecked Sendable {
    /// The time between two rounds, in nanoseconds.
    private static let interval: Int64 = 6 * 3_600_000_000_000
    /// The interval while the time is unknown, or a route was metered.
    private static let unprovedInterval: Int64 = 60_000_000_000
    /// The delay before a re-validation that found no descriptor or thread is retried.
    private static let resourceInterval: Int64 = 10_000_000_000
    private static let dueAtOnce = 32

    private let offlining: Offlining
    private let loop: EventLoop
    private let differs: @Sendable (ServiceAddress) -> Void
    private let startThread: (@escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> CancellableThread
    private var round = RevalidationRound()
    /// The time at which the round began, in seconds since 1970, and whether it was proved. If it was not, more
    /// products may be due.
    private var begun: (time: Int64?, isProved: Bool) = (nil, false)
    private var thread: CancellableThread?
    private var isOpen = false
    private var isShutDown = false

    /// - Parameter differs: called on control when the service has other content, and a download of it was added.
    init(
        _ offlining: Offlining, loop: EventLoop,
        differs: @escaping @Sendable (ServiceAddress) -> Void,
        startThread: @escaping (@escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> CancellableThread
    ) {
        (self.offlining, self.loop) = (offlining, loop)
        (self.differs, self.startThread) = (differs, startThread)
    }

    /// Whether a product is being validated.
    var isValidating: Bool { thread != nil }

    func begin() { handle(.due) }

    func gateChanged(isOpen: Bool) {
        self.isOpen = isOpen
        handle(.gateChanged(isOpen: isOpen))
    }

    /// Blocks until the thread has ended.
    func shutDown() {
        isShutDown = true
        thread?.cancel()
        thread?.join()
        thread = nil
    }

    private func handle(_ event: RevalidationRound.Event) {
        loop.assertOnLoop()
        guard !isShutDown else { return }
        for effect in round.handle(event, at: loop.now) where !isShutDown {
            switch effect {
            case .find(let at, let product): findDue(after: (at, product))
            case .validate(let item): validate(item)
            case .stop: thread?.cancel()
            case .rest:
                let interval = begun.isProved ? Self.interval : Self.unprovedInterval
                loop.schedule(after: interval) { [self] in handle(.due) }
            case .downloadAdded(let product): differs(product)
            }
        }
    }

    private func findDue(after last: (at: Int64, product: String)) {
        // Uses one time for the whole round, so that a product that the service makes due at once waits for the next
        // round.
        if last.at == .min { begun = (offlining.clock.estimatedSeconds, offlining.clock.read().isProved) }
        // While nothing reports a time, nothing is due.
        guard let time = begun.time else { return handle(.found([])) }
        offlining.store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.due(time, after: last, limit: Self.dueAtOnce)
        } _: { [self] items in
            handle(.found(items ?? []))
        }
    }

    private func validate(_ item: OfflineItem) {
        let (loop, offlining) = (loop, offlining)
        do throws(SystemError) {
            thread = try startThread { [self] cancellation in
                let outcome = OfflineRevalidation(
                    service: offlining.service, store: offlining.store, cancellation: cancellation
                ).run(item)
                loop.post { [self] in
                    thread?.join()
                    thread = nil
                    handle(.ended(outcome))
                    // The answer depends on more than the routes, for example on the name server.
                    guard outcome == .metered else { return }
                    loop.schedule(after: Self.unprovedInterval) { [self] in gateChanged(isOpen: isOpen) }
                }
            }
        } catch {
            guard error.isOfResources else { return handle(.ended(.skipped)) }
            // The round then begins again; other products would find no thread either.
            loop.schedule(after: Self.resourceInterval) { [self] in handle(.ended(.notBegun)) }
        }
    }
}
