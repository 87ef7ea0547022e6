import Database
import Platform
import Playback

/// Keeps the offline copies whole: watches their folder, repairs damage, checks copies for clients, and counts those
/// that were lost with the device's key.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class OfflineIntegrity: @unchecked Sendable {
    enum Change {
        /// The storage folder begins or ceases to belong to the database. `isProblem`: the reason for the user differs.
        case folder(isProblem: Bool)
        /// Downloads were added, or can be found again.
        case downloads
        /// Room was freed.
        case space
        /// The download of the product is not needed any more.
        case withdrawn(ServiceAddress)
    }

    private let offlining: Offlining
    private let bus: Bus<OfflineMessage>
    private let loop: EventLoop
    private let configuration: OfflineEngineConfig
    private let verifications: OfflineVerifications
    private let lost: LostProducts
    /// Set by `start`; nil after `shutDown`, like the next two.
    private var folder: StorageFolderWatch?
    private var repairs: OfflineRepairs?
    /// Called after each change.
    var changed: (@Sendable (Change) -> Void)?

    init(
        _ offlining: Offlining, _ bus: Bus<OfflineMessage>, loop: EventLoop, _ configuration: OfflineEngineConfig
    ) {
        self.offlining = offlining
        self.bus = bus
        self.loop = loop
        self.configuration = configuration
        verifications = OfflineVerifications(offlining.store, loop: loop, clock: offlining.clock)
        lost = LostProducts(offlining.store, loop: loop)
        repairs = OfflineRepairs(
            offlining.store, offlining.space, bus, loop: loop, configuration, folderLost: { [self] in folderLost() },
            downloadsChanged: { [self] in changed?(.downloads) })
        offlining.damage.receive { [self] product, content, what in
            loop.post { [self] in repairs?.found(damaged: product, content, what) }
        }
    }

    func start() {
        let store = offlining.store
        lost.check { [self] count in
            bus.send(.keyLost(count: count))
            changed?(.downloads)
        }
        // A download whose entry in an index was damaged was never found before the repair.
        store.storage.observeRepairs { [self] in loop.post { [self] in changed?(.downloads) } }
        let folder = StorageFolderWatch(store, offlining.space, loop: loop) { [self] in folderChanged(isProblem: $0) }
        self.folder = folder
        folder.look()
    }

    /// Ends the watch of the folder: nothing is repaired afterwards.
    func stop() {
        folder?.shutDown()
        folder = nil
        offlining.damage.receive(nil)
        repairs = nil
        changed = nil
    }

    /// Ends the running check and answers all. Blocks.
    func endChecks() { verifications.shutDown() }

    // MARK: The folder

    /// Whether the storage folder belongs to the database, as of the last look.
    var isFolderOurs: Bool { folder?.isOurs ?? false }

    /// Whether that is unknown, because the state cannot be read.
    var isFolderUnknown: Bool { folder?.isOfState ?? false }

    /// The user-facing reason why the storage folder does not match the database.
    var folderProblem: String? { folder?.problem }

    /// Handles a report that the folder does not belong to the database any more.
    func folderLost() { folder?.lost() }

    /// Looks at a folder that does not belong to the database: without any product, any folder can be claimed.
    func claimFolder() {
        if let folder, !folder.isOurs { folder.look() }
    }

    private func folderChanged(isProblem: Bool) {
        changed?(.folder(isProblem: isProblem))
        guard isFolderOurs else { return }
        ContentSweep(offlining.store) { [self] finding in
            loop.post { [self] in swept(finding) }
        }.start()
    }

    private func swept(_ finding: ContentSweep.Finding) {
        switch finding {
        case .damaged(let product, let content):
            repairs?.found(damaged: product, content, "its file is missing, or is not as large as its record says")
        case .unreadable(let product): repairs?.found(unreadable: product)
        case .unreadableDownloads: repairs?.failUnreadableDownloads()
        case .partsForgotten: changed?(.space)
        }
    }

    // MARK: Damage

    /// Downloads an offline copy again because its row has damaged values.
    /// - Parameter text: the product as the row names it.
    func found(unreadable text: String) { repairs?.found(unreadable: text) }

    /// Marks downloads whose rows have damaged values as failed.
    func failUnreadableDownloads() { repairs?.failUnreadableDownloads() }

    /// - Parameter answer: gets the number of products that were lost with the device's key and are still missing.
    func countLost(_ answer: @escaping @Sendable (Int) -> Void) { lost.count(answer) }

    // MARK: Checks

    /// Reads whole offline copies, one after the other on a thread of their own.
    func verify(
        _ product: ServiceAddress, _ check: OfflineCheck, _ answer: @escaping @Sendable (OfflineVerification) -> Void
    ) {
        verifications.verify(product, check, answer) { [self] found in
            switch found {
            case .damaged(let content):
                repairs?.found(damaged: product, content, "a part of an offline copy cannot be read")
            case .unreadable: repairs?.found(unreadable: product.text)
            case .repaired(let reference):
                changed?(.withdrawn(product))
                if let reference { bus.send(.done(referenceId: reference)) }
            }
        }
    }

    func cancel(_ check: OfflineCheck) { verifications.cancel(check) }

    /// The number of checks that have not ended.
    var checkCount: Int { verifications.count }
}
