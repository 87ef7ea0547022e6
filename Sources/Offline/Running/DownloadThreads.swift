import Database
import Fetching
import Media
import Platform
import Playback

/// The threads of the running downloads, and the progress of their transfers.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class DownloadThreads: @unchecked Sendable {
    /// A report about a running download, on the control thread.
    enum Report {
        case progress(percent: Int)
        /// The download began to wait for a retry, or stopped waiting.
        case retryChanged(isWaiting: Bool)
        /// The storage folder does not belong to the database any more.
        case folderLost
        /// The download's thread has ended. No other report follows.
        case ended(OfflineSchedule.Outcome)
    }

    private let offlining: Offlining
    private let loop: EventLoop
    private let turn: NetworkTurn
    private let threads: OfflineThreads
    /// Records downloads; nil when nothing is recorded.
    private let observer: (any DownloadObserver)?
    private var running: [(product: ServiceAddress, thread: CancellableThread, stream: StreamProgress)] = []

    /// - Parameter turn: the object on which downloads wait for playback.
    init(
        _ offlining: Offlining, loop: EventLoop, turn: NetworkTurn, threads: OfflineThreads,
        observer: (any DownloadObserver)?
    ) {
        self.offlining = offlining
        self.loop = loop
        self.turn = turn
        self.threads = threads
        self.observer = observer
    }

    /// The wait of each transfer; nil for one that is running.
    var waits: [WaitReason?] { running.map { $0.stream.wait } }

    /// Returns the wait of a product's transfer; nil when it is running, and without one.
    func wait(of product: ServiceAddress) -> WaitReason? { stream(of: product)?.wait }

    private func stream(of product: ServiceAddress) -> StreamProgress? {
        running.first { $0.product == product }?.stream
    }

    func start(_ download: QueuedDownload, _ report: @escaping @Sendable (Report) -> Void) throws(SystemError) {
        let (loop, offlining, turn, observer) = (loop, offlining, turn, observer)
        let medium = MediumAccess(clock: offlining.service.clock) {
            loop.post { [self] in
                guard let stream = stream(of: download.product) else { return }
                report(.retryChanged(isWaiting: stream.wait != nil))
            }
        }
        let thread = try threads.start("offline") { [self] cancellation in
            let store = offlining.store
            let run = OfflineDownload(
                download: download, service: offlining.service, store: store, space: offlining.space,
                cancellation: cancellation, turn: turn, medium: medium,
                recordInterval: offlining.settings.recordInterval,
                progress: { percent in loop.post { report(.progress(percent: percent)) } },
                now: { offlining.clock.seconds }, observer: observer)
            // Without its medium the folder is a mount point: nothing is freed or written there.
            var outcome = store.isFolderOurs() == false ? .stopped : Self.outcome(of: run, download)
            if outcome == .complete { offlining.covers.fetch(of: download.product, cancellation) }
            let isLost = outcome != .complete && store.isFolderOurs() == false
            if isLost { outcome = .stopped }
            loop.post { [self, outcome] in
                if isLost { report(.folderLost) }
                remove(download.product)
                report(.ended(outcome))
            }
        }
        running.append((download.product, thread, medium.stream))
    }

    private func remove(_ product: ServiceAddress) {
        guard let index = running.firstIndex(where: { $0.product == product }) else { return }
        running.remove(at: index).thread.join()
    }

    /// Ends a product's thread soon.
    func stop(_ product: ServiceAddress) { running.first { $0.product == product }?.thread.cancel() }

    /// Ends all threads soon; their progress is recorded.
    func cancelAll() {
        for run in running { run.thread.cancel() }
    }

    /// Waits until all threads have ended.
    func joinAll() {
        for run in running { run.thread.join() }
        running = []
    }

    /// Runs a download. Thread: the download's.
    private static func outcome(of run: OfflineDownload, _ download: QueuedDownload) -> OfflineSchedule.Outcome {
        do throws(OfflineFailure) {
            try run.run()
            return .complete
        } catch {
            if error == .noSpace { return .noSpace }
            if let problem = error.problemOfState {
                Log.warning("\(download.product.text) waits for the state: \(problem)")
                return .noState
            }
            if error.isOfMeteredLink { return .metered }
            let product = MediaProduct(
                productType: download.product.productType, productId: download.product.text,
                referenceId: download.referenceId)
            guard let error = error.error(product) else { return .stopped }
            return error.reach == .product ? .failed(error) : .away(error)
        }
    }
}
