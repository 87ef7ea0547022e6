import Database
import Fetching
import Media
import Network
import Platform
import Playback

/// Connects the parts of the offline engine, and decides whether they may use the network.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
package final class OfflineConductor: @unchecked Sendable {
    let bus: Bus<OfflineMessage>
    package let offlining: Offlining
    let integrity: OfflineIntegrity
    let downloads: OfflineDownloads
    package let precedence: PlaybackPrecedence
    let threads = OfflineThreads()
    private let loop: EventLoop
    private var conditions: OfflineConditions
    /// nil after `shutDown`.
    private var validations: OfflineValidations?
    /// Set by `start`; nil after `shutDown`.
    private var failed: FailedDownloads?

    /// - Parameter observer: follows the downloads.
    package init(
        _ offlining: Offlining, loop: EventLoop, _ configuration: OfflineEngineConfig,
        observer: (any DownloadObserver)? = nil
    ) {
        self.offlining = offlining
        self.loop = loop
        conditions = OfflineConditions(configuration)
        bus = Bus(loop: loop)
        precedence = PlaybackPrecedence(loop: loop)
        integrity = OfflineIntegrity(offlining, bus, loop: loop, configuration)
        downloads = OfflineDownloads(
            offlining, bus, loop: loop, integrity,
            DownloadThreads(offlining, loop: loop, turn: precedence.turn, threads: threads, observer: observer))
        validations = OfflineValidations(
            offlining, loop: loop,
            differs: { [downloads] in downloads.askedAgain($0) },
            startThread: { [threads] (body) throws(SystemError) in try threads.start("validation", body) })
        precedence.changed = { [self] in gateChanged() }
        integrity.changed = { [self] in changed($0) }
        offlining.space.observeEvictions { [self] reference in
            loop.post { [self] in bus.send(.deleted(referenceId: reference)) }
        }
    }

    /// - Parameter isOfflineMode: whether the player begins in offline mode.
    package func start(isOfflineMode: Bool = false) {
        loop.assertOnLoop()
        conditions.isOfflineMode = isOfflineMode
        integrity.start()
        gateChanged()
        downloads.downloadsChanged()
        validations?.begin()
        failed = FailedDownloads(offlining.store, loop: loop, clock: offlining.clock) { [downloads] in
            downloads.downloadsChanged()
        }
    }

    /// Ends all threads; the progress of downloads is recorded. Blocks.
    package func shutDown() {
        loop.assertOnLoop()
        failed?.stop()
        failed = nil
        precedence.changed = nil
        offlining.space.observeEvictions(nil)
        integrity.stop()
        downloads.stop()
        validations?.shutDown()
        validations = nil
        downloads.join()
        integrity.endChecks()
    }

    /// Ends the use of the storage. No other call may follow. Any thread; blocks.
    package func close() { offlining.store.close() }

    // MARK: Changes

    /// Handles another link, or changed routes on the same link.
    package func linkChanged(to link: Link) {
        loop.assertOnLoop()
        let isOther = link != conditions.link
        conditions.link = link
        downloads.routesChanged()
        gateChanged()
        if isOther { downloads.hurry(nil) }
    }

    /// Retries downloads whose login was refused.
    package func loginChanged() {
        loop.assertOnLoop()
        downloads.hurry(nil)
    }

    package func offlineModeChanged(to isOn: Bool) {
        loop.assertOnLoop()
        conditions.isOfflineMode = isOn
        gateChanged()
    }

    /// Handles a change of anything that decides whether the network may be used.
    package func gateChanged() {
        loop.assertOnLoop()
        let gate = conditions.gate(integrity, precedence)
        offlining.service.permission.isGiven = gate.allowsCellular
        downloads.gateChanged(to: gate)
        validations?.gateChanged(isOpen: gate.networkWait == nil)
    }

    private func changed(_ change: OfflineIntegrity.Change) {
        switch change {
        case .folder(let isProblem):
            gateChanged()
            if isProblem { downloads.warnings.changed?() }
        case .downloads: downloads.downloadsChanged()
        case .space: downloads.spaceFreed()
        case .withdrawn(let product): downloads.withdrawn(product)
        }
    }

    /// Whether a product is being validated.
    var isValidating: Bool { validations?.isValidating ?? false }
}
