import Crypto
import Database
import Fetching
import Media
import Network
import Platform
import Playback
import Streaming

/// One run of a download, from the playbackinfo to the transaction that makes the product an offline copy
/// (docs/playback.md, 16.4).
///
/// Thread: one of its own; it blocks.
struct OfflineDownload {
    let download: QueuedDownload
    let service: OfflineService
    let store: OfflineStore
    let space: OfflineSpace
    let cancellation: Cancellation
    /// Waits while playback needs the network.
    let turn: NetworkTurn
    /// Shows the retries of all its transfers.
    let medium: MediumAccess
    /// The number of bytes that are written between two records of the progress.
    let recordInterval: Int64
    /// Called with 0 to 99.
    let progress: (Int) -> Void
    /// Returns seconds since 1970, for the order of use; nil while the time is unknown.
    let now: () -> Int64?
    /// Follows the download; nil when nothing is recorded.
    var observer: (any DownloadObserver)?

    private var mediaProduct: MediaProduct {
        MediaProduct(
            productType: download.product.productType, productId: download.product.text,
            referenceId: download.referenceId)
    }

    /// Returns when the product is an offline copy.
    func run() throws(OfflineFailure) {
        var download = download
        var isRestart = false
        // The bytes of the content that the best earlier attempt reached, and those that this attempt reached.
        var (furthest, reached): (Int64, Int64) = (0, 0)
        defer { space.end(self.download) }
        while true {
            let record = observer?.begins(download.product)
            do throws(OfflineFailure) {
                return try attempt(download, record, isRestart: isRestart, &reached)
            } catch {
                end(record, error)
                // As for a stream: request new addresses, as long as each request brings the download further.
                guard error.isWorthRestarting, !isRestart || reached > furthest else { throw error }
                Log.info("a part of the content is refused or has changed: the product is requested again")
                isRestart = true
                (furthest, reached) = (max(furthest, reached), 0)
                let product = download.product
                let stored = store.waitToRead { (rows) throws(DatabaseError) in try rows.download(product) }
                // Another number: the download was deleted and requested again.
                guard let found = stored ?? nil, found.number == self.download.number else { throw .stopped }
                download = found
            }
        }
    }

    /// Records an attempt without a result.
    private func end(_ record: (any DownloadRecord)?, _ failure: OfflineFailure) {
        guard let record else { return }
        record.ended(failure.fetchEnd(mediaProduct))
        do throws(DatabaseError) {
            if record.needsTransaction {
                try store.waitToWrite { (rows) throws(DatabaseError) in try record.store(in: rows.database) }
            }
            record.stored()
        } catch {
            Log.warning("the events of a download cannot be stored: \(error)")
        }
    }

    /// - Parameter reached: set to the number of bytes that are there at a failure.
    private func attempt(
        _ download: QueuedDownload, _ record: (any DownloadRecord)?, isRestart: Bool, _ reached: inout Int64
    ) throws(OfflineFailure) {
        // Check the room and the state first: the service is not asked for content that cannot be stored.
        try space.claim(download)
        do throws(DatabaseError) { try store.checkState() } catch { throw .state(error) }
        var requests = service.requests(for: .offlining, cancellation, medium)
        requests.session = record.map { record in
            PlaybackSession(newID: { record.id }, renewed: { _ in }) { report in
                if case .ended(let fetch) = report { record.fetched(fetch) }
            }
        }
        let info = try playbackInfo(download, record, requests, asksForNew: isRestart)
        let (layout, keys) = try service.content(of: info, requests, asksForNew: isRestart)
        // Do not take unusable content from the cache a second time.
        let cached = isRestart ? nil : ContentSpace(info, of: service.settings)
        let resources = try Self.media { () throws(MediaError) in try ContentResources(layout, in: cached) }
        let content = try GrowingContent(download, info.fingerprint, in: store, recordedEvery: recordInterval)
        let arriving = ArrivingContent(
            download, resources, keys, into: content, over: service.network, space, turn, medium.stream, cancellation,
            progress)
        let verified: ContentVerification.Result
        defer { arriving.stop() }
        do throws(OfflineFailure) {
            verified = try verify(arriving, content, resources, keys)
            try arriving.receiveAll()
        } catch {
            if let failure = arriving.failure {
                reached = content.count
                if failure.endsPart { try content.discard() } else { content.leave() }
                throw failure
            }
            // Fetching again makes a different file. The file is reusable only if just its license is missing.
            if error.isOfContent { try content.discard() } else { content.leave() }
            throw error
        }
        do throws(OfflineFailure) { try keep(content, resources, info, verified, record) } catch {
            // The complete file is not fetched again. The file of a deleted product is already removed.
            if error != .stopped { content.leave() }
            throw error
        }
    }

    /// Decodes the content, if possible while it arrives: bytes in memory need no second decryption.
    private func verify(
        _ arriving: ArrivingContent, _ content: GrowingContent, _ resources: ContentResources, _ keys: [StreamedKeys]
    ) throws(OfflineFailure) -> ContentVerification.Result {
        // A continued download would be decoded from its beginning in each run. For segmented content the decoder knows
        // the expected length only when everything has arrived.
        let isNew = content.start.index == 0 && content.start.offset == 0
        if isNew { try arriving.receiveFirst() }
        if !isNew || arriving.length == nil { try arriving.receiveAll() }
        return try ContentVerification(
            source: arriving, parts: resources.copyParts { content.offset(of: $0) }, licenses: keys.map { $0.licenses },
            cancellation: cancellation
        ).run()
    }

    private func playbackInfo(
        _ download: QueuedDownload, _ record: (any DownloadRecord)?, _ requests: ServiceRequests, asksForNew: Bool
    ) throws(OfflineFailure) -> PlaybackInfo {
        let clock = SystemMonotonicClock()
        let began = clock.now()
        func fetched(_ end: ServiceFetch.End) {
            record?.fetched(ServiceFetch(.playbackInfo, milliseconds: (clock.now() - began) / 1_000_000, end))
        }
        do throws(OfflineFailure) {
            let info = try service.playbackInfo(
                of: download.product, download.request, for: mediaProduct, requests, asksForNew: asksForNew,
                session: record?.id)
            fetched(.complete)
            record?.opened(info)
            return info
        } catch {
            // A service that was not reached has no session.
            if case .refused = error { fetched(error.fetchEnd(mediaProduct)) }
            throw error
        }
    }

    // MARK: Keeping

    private func keep(
        _ content: GrowingContent, _ resources: ContentResources, _ info: PlaybackInfo,
        _ verified: ContentVerification.Result, _ record: (any DownloadRecord)?
    ) throws(OfflineFailure) {
        let sealedKey = try content.finish()
        var received = OfflineItem.Received(info, download.product.productType)
        received.parts = resources.copyParts { content.offset(of: $0) }
        var item = OfflineItem(
            product: download.product, referenceId: download.referenceId, request: download.request,
            received: received, fingerprint: info.fingerprint, content: content.content,
            sealedKey: sealedKey, sealedLicense: nil, count: content.count,
            validity: OfflineValidity(revalidateAt: info.offlineRevalidateAt, validUntil: info.offlineValidUntil),
            isAutomatic: download.isAutomatic)
        item.received.title = verified.metadata.title.map { Self.short($0) }
        item.received.artist = verified.metadata.artist.map { Self.short($0) }
        if !verified.keys.isEmpty {
            item.sealedLicense = store.seal(OfflineLicense(keys: verified.keys).bytes, for: item.content)
        }
        let (copy, number, time) = (item, download.number, now())
        record?.ended(.complete)
        let isWanted: Bool
        do throws(DatabaseError) {
            let outcome = try store.waitToWrite { (rows) throws(DatabaseError) -> (hasCopy: Bool, former: [UInt8]?) in
                guard let download = try rows.download(copy.product), download.number == number else {
                    return (false, nil)
                }
                var copy = copy
                copy.isAutomatic = download.isAutomatic
                try record?.store(in: rows.database)
                return (true, try rows.keep(copy, now: time))
            }
            if outcome.hasCopy { record?.stored() }
            isWanted = outcome.hasCopy
            store.removeFiles([isWanted ? outcome.former : copy.content].compactMap { $0 })
        } catch {
            throw OfflineFailure(error)
        }
        // The product was deleted meanwhile: send no `.done`.
        if !isWanted { throw .stopped }
    }

    /// Shortens a text for lists: a tag may have megabytes, and the row of a product has to stay small.
    private static func short(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(100)))
    }

    private static func media<Result>(
        _ body: () throws(MediaError) -> Result
    ) throws(OfflineFailure) -> Result {
        do throws(MediaError) { return try body() } catch { throw .media(error) }
    }
}
