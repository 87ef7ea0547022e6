import Database
import Platform
import Playback

/// Manages offline copies of products of the content service: downloads, stores and validates them (docs/playback.md,
/// 16; docs/decisions/offline-engine.md).
///
///     engine.bus.subscribe { message in
///         guard case .done(let referenceId) = message else { return }
///         print("\(referenceId) plays without a network now")
///     }
///     if engine.offline(product) { print("the download is stored, and survives a power cut") }
///
/// Thread: any, also that of a subscriber of `bus`. Functions without `answer` wait for the medium. Those with it call
/// it on the player's control thread, and it must return soon.
/// `@unchecked Sendable` is safe because its parts are set once; each is safe on its own.
public final class OfflineEngine: @unchecked Sendable {
    /// The answer to a request to download or remove products, or to pause and resume downloads.
    public enum Change: Equatable, Sendable {
        /// The change is made, also on the medium.
        case changed
        /// The requested state was there before, or there is nothing to change.
        case unchanged
        /// The id does not belong to a product of the service.
        case notOfService
        /// The queue of downloads has reached its limit.
        case full(limit: Int)
        /// The change cannot be stored; the reason is for the user.
        case failed(reason: String)
    }

    /// All messages and errors, in order.
    public var bus: Bus<OfflineMessage> { conductor.bus }

    let loop: EventLoop
    let offlining: Offlining
    let conductor: OfflineConductor
    private let configuration: OfflineEngineConfig

    package init(
        loop: EventLoop, _ offlining: Offlining, conductor: OfflineConductor, configuration: OfflineEngineConfig
    ) {
        self.loop = loop
        self.offlining = offlining
        self.conductor = conductor
        self.configuration = configuration
    }

    private var clock: TrustedClock { offlining.clock }
    private var store: OfflineStore { offlining.store }

    // MARK: The role of the specification

    /// Downloads a product as soon as possible, in the configured quality. When it returns true, the download is on the
    /// medium and survives a power cut; `.started`, `.progress`, `.done` or `.failed` follow.
    /// - Returns: whether there is a new download; false also for a product with an offline copy or a download.
    public func offline(_ mediaProduct: MediaProduct) -> Bool {
        wait { offline(mediaProduct, waits: true, $0) }
    }

    /// Removes a product: its offline copy and its download. A copy that plays is removed too, even while it is
    /// downloaded again. `cancel` ends a download alone. `.deleted` follows.
    /// - Returns: whether there was anything to remove.
    public func deleteOffline(_ mediaProduct: MediaProduct) -> Bool {
        wait { deleteOffline(mediaProduct, waits: true, $0) }
    }

    /// Removes all offline copies and downloads. `.allDeleted` follows.
    /// - Returns: whether there was anything to remove.
    public func deleteAllOfflines() -> Bool {
        wait { deleteAllOfflines(waits: true, $0) }
    }

    private func wait(for change: (@escaping @Sendable (Change) -> Void) -> Void) -> Bool {
        let answer = FutureValue<Change>()
        change { answer.set($0) }
        return answer.wait() == .changed
    }

    /// Changes rows.
    /// - Parameters:
    ///   - waits: whether the caller waits for the answer. On the control thread the answer then comes before this
    ///     returns, because nothing can be posted. Messages follow later, in order.
    ///   - answer: called on the control thread; the closure that it passes to `follow` runs there after it.
    private func write<Result: Sendable>(
        waits: Bool, _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result,
        _ answer:
            @escaping @Sendable (
                Swift.Result<Result, DatabaseError>, _ follow: (@escaping @Sendable () -> Void) -> Void
            ) -> Void
    ) {
        guard waits, loop.isCurrentThread else {
            return store.write(answerOn: loop, work) { answer($0) { $0() } }
        }
        let loop = loop
        do throws(DatabaseError) {
            let value = try store.waitToWrite(work)
            answer(.success(value)) { loop.post($0) }
        } catch {
            answer(.failure(error)) { loop.post($0) }
        }
    }

    /// Returns whether a product has a valid offline copy.
    public func getOfflineState(_ mediaProduct: MediaProduct) -> OfflineState {
        guard let product = ServiceAddress(mediaProduct.productId) else { return .notOfflined }
        let stored = store.waitToRead { (rows) throws(DatabaseError) in try Self.stored(product, rows) }
        return stored.map { state(of: $0) } ?? .notOfflined
    }

    private typealias Stored = (item: OfflineItem?, isThere: Bool)

    private static func stored(_ product: ServiceAddress, _ rows: OfflineRows) throws(DatabaseError) -> Stored {
        if let item = try rows.item(product) { return (item, true) }
        return (nil, try rows.stored(product) != nil)
    }

    /// - Parameter stored: the row; its item is nil when the row has damaged values.
    private func state(of stored: Stored) -> OfflineState {
        guard let item = stored.item else { return stored.isThere ? .offlinedButNotValid : .notOfflined }
        return !item.isDamaged && item.validity.holds(at: clock.seconds) ? .offlinedAndValid : .offlinedButNotValid
    }

    // MARK: The same, with an answer

    /// The priorities that the user may give a download.
    public static let priorities = -1000...1000

    /// - Parameters:
    ///   - priority: one of `priorities`. A higher priority goes first, then the older download.
    ///   - isAutomatic: whether the appliance chose the product, and may remove it when there is no room.
    public func offline(
        _ mediaProduct: MediaProduct, priority: Int = 0, isAutomatic: Bool = false,
        _ answer: @escaping @Sendable (Change) -> Void
    ) {
        offline(mediaProduct, priority: priority, isAutomatic: isAutomatic, waits: false, answer)
    }

    private func offline(
        _ mediaProduct: MediaProduct, priority: Int = 0, isAutomatic: Bool = false, waits: Bool,
        _ answer: @escaping @Sendable (Change) -> Void
    ) {
        guard let product = ServiceAddress(mediaProduct.productId) else { return answer(.notOfService) }
        guard !product.hasTooLongID else {
            return answer(.failed(reason: "the product's id has more than \(ServiceAddress.idLimit) bytes"))
        }
        // Below every user-requested priority.
        let priority = Int64(isAutomatic ? Self.priorities.lowerBound - 1 : priority)
        let request = OfflineRequest(
            audioQuality: configuration.offlineAudioQuality, videoQuality: configuration.offlineVideoQuality)
        let time = clock.seconds
        let limit = offlining.space.limits.downloads
        // nil: the queue is full.
        write(waits: waits) { (rows) throws(DatabaseError) -> Bool? in
            if let item = try rows.item(product), !item.isDamaged, item.validity.holds(at: time) {
                if !isAutomatic { try rows.askedFor(product, priority: priority) }
                return false
            }
            if try !rows.hasRoom(for: [product], limit: limit) { return nil }
            return try rows.add(
                product, mediaProduct.referenceId, request, priority: priority, isAutomatic: isAutomatic)
        } _: { [conductor] result, follow in
            switch result {
            case .success(let isNew):
                answer(isNew.map { $0 ? .changed : .unchanged } ?? .full(limit: limit))
                if isNew != nil { follow { conductor.downloads.askedAgain(product) } }
            case .failure(let error): answer(.failed(reason: error.description))
            }
        }
    }

    /// Whether the queue of downloads has room for all of `products`.
    /// - Parameter answer: gets `limit` when there is no room; nil when there is room, or the rows cannot be read.
    public func checkRoom(for products: [MediaProduct], _ answer: @escaping @Sendable (_ limit: Int?) -> Void) {
        let limit = offlining.space.limits.downloads
        let addresses = products.compactMap { ServiceAddress($0.productId) }
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.hasRoom(for: addresses, limit: limit)
        } _: { hasRoom in
            answer(hasRoom == false ? limit : nil)
        }
    }

    /// Calls `body` with each of `products` on the control thread, a few in one turn. A long list blocks neither the
    /// caller nor other work there.
    public func inTurns(_ products: [MediaProduct], _ body: @escaping @Sendable (MediaProduct) -> Void) {
        inTurns(products[...], body)
    }

    private static let productsInTurn = 32

    private func inTurns(_ products: ArraySlice<MediaProduct>, _ body: @escaping @Sendable (MediaProduct) -> Void) {
        guard !products.isEmpty else { return }
        loop.post { [self] in
            for product in products.prefix(Self.productsInTurn) { body(product) }
            inTurns(products.dropFirst(Self.productsInTurn), body)
        }
    }

    public func deleteOffline(_ mediaProduct: MediaProduct, _ answer: @escaping @Sendable (Change) -> Void) {
        deleteOffline(mediaProduct, waits: false, answer)
    }

    private func deleteOffline(
        _ mediaProduct: MediaProduct, waits: Bool, _ answer: @escaping @Sendable (Change) -> Void
    ) {
        guard let product = ServiceAddress(mediaProduct.productId) else { return answer(.notOfService) }
        write(waits: waits) { (rows) throws(DatabaseError) in
            try rows.remove(product)
        } _: { [conductor, store] result, follow in
            guard case .success(let removed?) = result else { return answer(Change(result.map { $0 != nil })) }
            conductor.downloads.withdrawn(product)
            store.storage.perform { store.removeFiles(removed.contents) }
            answer(.changed)
            follow {
                conductor.bus.send(.deleted(referenceId: removed.referenceId))
                conductor.downloads.spaceFreed()
            }
        }
    }

    public func deleteAllOfflines(_ answer: @escaping @Sendable (Change) -> Void) {
        deleteAllOfflines(waits: false, answer)
    }

    private func deleteAllOfflines(waits: Bool, _ answer: @escaping @Sendable (Change) -> Void) {
        write(waits: waits) { (rows) throws(DatabaseError) in
            try rows.removeAll()
        } _: { [conductor, store] result, follow in
            guard case .success(true) = result else { return answer(Change(result)) }
            conductor.downloads.allWithdrawn()
            ContentSweep(store, report: { _ in }).start()
            answer(.changed)
            follow {
                conductor.bus.send(.allDeleted)
                conductor.downloads.spaceFreed()
            }
        }
    }
}

extension OfflineEngine.Change {
    /// - Parameter result: whether a transaction changed a row.
    init(_ result: Result<Bool, DatabaseError>) {
        switch result {
        case .success(let hasChanged): self = hasChanged ? .changed : .unchanged
        case .failure(let error): self = .failed(reason: error.description)
        }
    }
}
