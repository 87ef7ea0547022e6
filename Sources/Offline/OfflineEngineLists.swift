import Database
import Platform
import Playback

/// The lists of offline copies and downloads, and the checks of copies.
extension OfflineEngine {
    /// The totals of offline copies and downloads.
    public struct Status: Equatable, Sendable {
        public var copyCount: Int
        public var downloadCount: Int
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
        let space = offlining.space
        let limits = space.limits
        offlining.store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            let used = try OfflineSpace.used(rows)
            return (
                copies: try rows.itemCount(), downloads: try rows.downloadCount(), used: used,
                most: space.most(beside: used),
                counted: try OfflineSpace.counted(rows)
            )
        } _: { [conductor] counts in
            guard let counts else { return answer(nil) }
            let level = counts.most.map { Double($0) * Double(limits.warningPercent) / 100 } ?? .infinity
            let status = Status(
                copyCount: counts.copies, downloadCount: counts.downloads, usedBytes: counts.used, budget: limits.bytes,
                isNearlyFull: counts.counted > 0 && Double(counts.counted) >= level,
                wait: counts.downloads > 0 ? conductor.downloads.wait : nil)
            conductor.integrity.countLost { lost in
                var status = status
                status.mostBytes = counts.most
                status.lostCount = lost
                status.folderProblem = conductor.integrity.folderProblem
                status.serviceProblem = counts.downloads > 0 ? conductor.downloads.serviceProblem : nil
                answer(status)
            }
        }
    }

    /// Calls `changed` when downloads begin to wait for room, the state or the medium, and when they no longer do.
    /// Thread of the call: the player's control thread.
    /// - Parameter changed: nil ends the observation.
    public func observeSpace(_ changed: (@Sendable () -> Void)?) {
        loop.post { [conductor] in conductor.downloads.warnings.changed = changed }
    }

    /// Lists downloads in the order of their requests.
    /// - Parameters:
    ///   - number: the download after which the page begins.
    ///   - answer: gets the page, or nil when it cannot be read; and the number for the next page, nil at the end.
    public func downloads(
        after number: Int64 = 0, limit: Int = 100,
        _ answer: @escaping @Sendable ([OfflineEntry]?, _ next: Int64?) -> Void
    ) {
        offlining.store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.listedDownloads(after: number, limit: limit)
        } _: { [conductor] downloads in
            guard let downloads else { return answer(nil, nil) }
            if downloads.contains(where: { $0.row == nil }) { conductor.integrity.failUnreadableDownloads() }
            answer(
                downloads.map { listed in
                    listed.row.map { OfflineEntry($0, conductor.downloads.status(of: $0)) }
                        ?? OfflineEntry(listed, .failed(reason: OfflineRows.unreadableDownload))
                }, downloads.count == limit ? downloads.last?.number : nil)
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
        offlining.store.read(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.listedItems(after: product, limit: limit)
        } _: { [conductor, clock = offlining.clock] items in
            guard let items else { return answer(nil, nil) }
            let time = clock.seconds
            for listed in items where listed.row == nil { conductor.integrity.found(unreadable: listed.product) }
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
            answer(.noCopy)
            return nil
        }
        let check = OfflineCheck(loop: loop, conductor.integrity)
        loop.post { [conductor] in conductor.integrity.verify(product, check, answer) }
        return check
    }
}

extension OfflineEntry {
    /// Makes the entry of a row with damaged values.
    init<Row>(_ listed: OfflineRows.Listed<Row>, _ status: Status) {
        self.init(
            product: listed.product, referenceId: listed.referenceId, status: status, bytes: listed.bytes)
    }

    init(_ download: QueuedDownload, _ status: Status) {
        self.init(
            product: download.product.text, number: download.number, referenceId: download.referenceId, status: status,
            bytes: download.progress?.synced ?? 0, audioQuality: download.request.audioQuality)
    }

    init(_ item: OfflineItem, at time: Int64?) {
        let status: Status = item.isDamaged ? .damaged : item.validity.holds(at: time) ? .complete : .expired
        self.init(
            product: item.product.text, referenceId: item.referenceId, status: status, bytes: item.count,
            audioQuality: item.received.audioQuality, audioMode: item.received.audioMode,
            assetPresentation: item.received.assetPresentation,
            receivedProduct: item.received.product == item.product ? nil : item.received.product.text,
            validUntil: item.validity.validUntil, title: item.received.title, artist: item.received.artist)
    }
}
