import Database
import Platform
import Playback

/// Manages offline copies of products of the content service: downloads, stores and validates them (docs/playback.md,
/// 16).
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

    private let loop: EventLoop
    private let conductor: OfflineConductor
    private let configuration: OfflineEngineConfig

    package init(loop: EventLoop, conductor: OfflineConductor, configuration: OfflineEngineConfig) {
        self.loop = loop
        self.conductor = conductor
        self.configuration = configuration
    }

    private var clock: TrustedClock { conductor.clock }
    private var store: OfflineStore { conductor.store }

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
        let answer = Answer<Change>()
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
    ///   - priority: one of `priorities`. Higher ones go first, then the older one.
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
        let limit = conductor.space.limits.downloads
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
                if isNew != nil { follow { conductor.askedAgain(product) } }
            case .failure(let error): answer(.failed(reason: error.description))
            }
        }
    }

    /// Whether the queue of downloads has room for all of `products`.
    /// - Parameter answer: gets `limit` when there is no room; nil when there is room, or the rows cannot be read.
    public func checkRoom(for products: [MediaProduct], _ answer: @escaping @Sendable (_ limit: Int?) -> Void) {
        let limit = conductor.space.limits.downloads
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
            conductor.withdrawn(product)
            store.storage.perform { store.removeFiles(removed.contents) }
            answer(.changed)
            follow {
                conductor.bus.send(.deleted(referenceId: removed.referenceId))
                conductor.spaceFreed()
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
            conductor.allWithdrawn()
            ContentSweep(store, report: { _ in }).start()
            answer(.changed)
            follow {
                conductor.bus.send(.allDeleted)
                conductor.spaceFreed()
            }
        }
    }

    /// Finds out whether a product has a valid offline copy.
    public func offlineState(of mediaProduct: MediaProduct, _ answer: @escaping @Sendable (OfflineState) -> Void) {
        guard let product = ServiceAddress(mediaProduct.productId) else { return answer(.notOfflined) }
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try Self.stored(product, rows)
        } _: { [self] stored in
            answer(stored.map { state(of: $0) } ?? .notOfflined)
        }
    }

    // MARK: Downloads by hand

    /// Pauses the downloads of a product, or all, until `resume`. Their progress stays.
    public func pause(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        set(.paused, from: [.queued], mediaProduct) { [conductor] product, change in
            guard change == .changed else { return answer(change) }
            if let product { conductor.withdrawn(product) } else { conductor.allWithdrawn() }
            answer(change)
            // A paused download waits for room no longer.
            conductor.spaceFreed()
        }
    }

    /// Resumes the paused and failed downloads of a product, or all. Those that wait for the service are retried at
    /// once.
    public func resume(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        set(.queued, from: [.paused, .failed], mediaProduct) { [conductor] product, change in
            answer(change)
            if change == .changed { conductor.spaceFreed() }
            // This includes downloads that wait for room: their content may have become smaller.
            if change == .changed || change == .unchanged { conductor.askedAgain(product) }
        }
    }

    /// Cancels the download of a product, or all, and removes its progress. An earlier offline copy stays. `.cancelled`
    /// or `.allCancelled` follows.
    public func cancel(_ mediaProduct: MediaProduct?, _ answer: @escaping @Sendable (Change) -> Void) {
        guard let mediaProduct else { return cancelAll(answer) }
        guard let product = ServiceAddress(mediaProduct.productId) else { return answer(.notOfService) }
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.cancel(product)
        } _: { [conductor, store] result in
            guard case .success(let cancelled?) = result else { return answer(Change(result.map { $0 != nil })) }
            conductor.withdrawn(product)
            store.storage.perform { store.removeFiles(cancelled.contents) }
            answer(.changed)
            conductor.bus.send(.cancelled(referenceId: cancelled.referenceId))
            conductor.spaceFreed()
        }
    }

    private func cancelAll(_ answer: @escaping @Sendable (Change) -> Void) {
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.cancelAll()
        } _: { [conductor, store] result in
            guard case .success(true) = result else { return answer(Change(result)) }
            conductor.allWithdrawn()
            ContentSweep(store, report: { _ in }).start()
            answer(.changed)
            conductor.bus.send(.allCancelled)
            conductor.spaceFreed()
        }
    }

    private func set(
        _ state: OfflineJob.State, from former: [OfflineJob.State], _ mediaProduct: MediaProduct?,
        _ answer: @escaping @Sendable (ServiceAddress?, Change) -> Void
    ) {
        var product: ServiceAddress?
        if let mediaProduct {
            product = ServiceAddress(mediaProduct.productId)
            if product == nil { return answer(nil, .notOfService) }
        }
        store.write(answerOn: loop) { [product] (rows) throws(DatabaseError) in
            try rows.setState(state, from: former, of: product)
        } _: { [product] result in
            answer(product, Change(result.map { $0 > 0 }))
        }
    }

    // MARK: Lists

    /// The totals of offline copies and downloads.
    public struct Status: Equatable, Sendable {
        public var keptCount: Int
        public var jobCount: Int
        /// The bytes of offline copies and downloads together.
        public var usedBytes: Int64
        /// The budget in bytes; nil: the whole medium.
        public var budget: Int64?
        /// Whether `usedBytes` has reached `OfflineLimits.warningPercent`. Copies that a running replacement will free
        /// do not count.
        public var isNearlyFull: Bool
        /// The reason why downloads wait; nil when they run, or there are none.
        public var wait: OfflineWait?
        /// The most bytes that offline copies may use: the budget, or the room of the medium if that is less. nil when
        /// neither is known.
        public var mostBytes: Int64?
        /// Offline copies that cannot be read, because the device's key differed at the start, and that are not
        /// downloaded again yet.
        public var lostCount = 0
        /// Why the storage folder does not match the database, for the user. Until it does, no file in it is removed or
        /// counts as lost, and downloads wait.
        public var folderProblem: String?
        /// Why downloads wait for the content service, for the user; nil when none does.
        public var serviceProblem: String?
    }

    /// - Parameter answer: gets nil when the rows cannot be read.
    public func status(_ answer: @escaping @Sendable (Status?) -> Void) {
        let space = conductor.space
        let limits = space.limits
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            let used = try OfflineSpace.used(rows)
            return (
                kept: try rows.itemCount(), jobs: try rows.jobCount(), used: used, most: space.most(beside: used),
                counted: try OfflineSpace.counted(rows)
            )
        } _: { [conductor] counts in
            guard let counts else { return answer(nil) }
            let level = counts.most.map { Double($0) * Double(limits.warningPercent) / 100 } ?? .infinity
            let status = Status(
                keptCount: counts.kept, jobCount: counts.jobs, usedBytes: counts.used, budget: limits.bytes,
                isNearlyFull: counts.counted > 0 && Double(counts.counted) >= level,
                wait: counts.jobs > 0 ? conductor.wait : nil)
            conductor.countLost { lost in
                var status = status
                status.mostBytes = counts.most
                status.lostCount = lost
                status.folderProblem = conductor.folderProblem
                status.serviceProblem = counts.jobs > 0 ? conductor.serviceProblem : nil
                answer(status)
            }
        }
    }

    /// Calls `changed` when downloads begin to wait for room, the state or the medium, and when they no longer do.
    /// Thread of the call: the player's control thread.
    /// - Parameter changed: nil ends the observation.
    public func observeSpace(_ changed: (@Sendable () -> Void)?) {
        loop.post { [conductor] in conductor.spaceChanged = changed }
    }

    /// Lists downloads in the order of their requests.
    /// - Parameters:
    ///   - number: the download after which the page begins.
    ///   - answer: gets the page, or nil when it cannot be read; and the number for the next page, nil at the end.
    public func jobs(
        after number: Int64 = 0, limit: Int = 100,
        _ answer: @escaping @Sendable ([OfflineEntry]?, _ next: Int64?) -> Void
    ) {
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.listedJobs(after: number, limit: limit)
        } _: { [conductor] jobs in
            guard let jobs else { return answer(nil, nil) }
            if jobs.contains(where: { $0.row == nil }) { conductor.repairs?.failUnreadableJobs() }
            answer(
                jobs.map { listed in
                    listed.row.map { OfflineEntry($0, conductor.status(of: $0)) }
                        ?? OfflineEntry(listed, .failed(reason: OfflineRows.unreadableJob))
                }, jobs.count == limit ? jobs.last?.number : nil)
        }
    }

    /// Lists offline copies in the order of their addresses.
    /// - Parameters:
    ///   - product: the address after which the page begins.
    ///   - answer: gets the page, or nil when it cannot be read; and the address for the next page, nil at the end.
    public func items(
        after product: String = "", limit: Int = 100,
        _ answer: @escaping @Sendable ([OfflineEntry]?, _ next: String?) -> Void
    ) {
        store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.listedItems(after: product, limit: limit)
        } _: { [conductor, clock] items in
            guard let items else { return answer(nil, nil) }
            let time = clock.seconds
            for listed in items where listed.row == nil { conductor.repairs?.found(unreadable: listed.product) }
            answer(
                items.map { listed in
                    listed.row.map { OfflineEntry($0, at: time) } ?? OfflineEntry(listed, .damaged)
                }, items.count == limit ? items.last?.product : nil)
        }
    }

    /// Reads the whole offline copy of a product, on a thread of its own. A damaged copy is downloaded again. One check
    /// runs at a time; the others wait.
    /// - Returns: a handle that cancels the check. The answer is then `.stopped`, unless it was given before.
    @discardableResult
    public func verify(
        _ mediaProduct: MediaProduct, _ answer: @escaping @Sendable (OfflineVerification) -> Void
    ) -> OfflineCheck? {
        guard let product = ServiceAddress(mediaProduct.productId) else {
            answer(.notKept)
            return nil
        }
        let check = OfflineCheck(loop: loop, conductor: conductor)
        loop.post { [conductor] in conductor.verify(product, check, answer) }
        return check
    }
}

/// A requested check of an offline copy.
public final class OfflineCheck: Sendable {
    private let loop: EventLoop
    private let conductor: OfflineConductor

    init(loop: EventLoop, conductor: OfflineConductor) {
        self.loop = loop
        self.conductor = conductor
    }

    /// Ends the check soon; its answer is `.stopped`. Any thread.
    public func cancel() { loop.post { [self] in conductor.cancel(self) } }
}

extension OfflineEngine.Change {
    /// - Parameter result: whether a transaction changed a row.
    fileprivate init(_ result: Result<Bool, DatabaseError>) {
        switch result {
        case .success(let hasChanged): self = hasChanged ? .changed : .unchanged
        case .failure(let error): self = .failed(reason: error.description)
        }
    }
}

extension OfflineEntry {
    /// Makes the entry of a row with damaged values.
    init<Row>(_ listed: OfflineRows.Listed<Row>, _ status: Status) {
        self.init(
            product: listed.product, referenceId: listed.referenceId, status: status, bytes: listed.bytes)
    }

    init(_ job: OfflineJob, _ status: Status) {
        self.init(
            product: job.product.text, number: job.number, referenceId: job.referenceId, status: status,
            bytes: job.progress?.synced ?? 0, audioQuality: job.request.audioQuality)
    }

    init(_ item: OfflineItem, at time: Int64?) {
        let status: Status = item.isDamaged ? .damaged : item.validity.holds(at: time) ? .kept : .expired
        self.init(
            product: item.product.text, referenceId: item.referenceId, status: status, bytes: item.count,
            audioQuality: item.received.audioQuality, audioMode: item.received.audioMode,
            assetPresentation: item.received.assetPresentation,
            receivedProduct: item.received.product == item.product ? nil : item.received.product.text,
            validUntil: item.validity.validUntil, title: item.received.title, artist: item.received.artist)
    }
}
