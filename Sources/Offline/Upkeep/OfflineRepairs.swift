import Crypto
import Database
import Media
import Platform
import Playback

/// Repairs damage: an offline copy that cannot be read is downloaded again, and reported once.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because its parts are set once, and control alone uses it.
final class OfflineRepairs: @unchecked Sendable {
    private let store: OfflineStore
    private let space: OfflineSpace
    private let bus: Bus<OfflineMessage>
    private let loop: EventLoop
    private let configuration: OfflineEngineConfig
    /// Called when the storage folder does not belong to the database any more.
    private let folderLost: @Sendable () -> Void
    private let downloadsChanged: @Sendable () -> Void

    init(
        _ store: OfflineStore, _ space: OfflineSpace, _ bus: Bus<OfflineMessage>, loop: EventLoop,
        _ configuration: OfflineEngineConfig, folderLost: @escaping @Sendable () -> Void,
        downloadsChanged: @escaping @Sendable () -> Void
    ) {
        (self.store, self.space, self.bus, self.loop) = (store, space, bus, loop)
        (self.configuration, self.folderLost, self.downloadsChanged) = (configuration, folderLost, downloadsChanged)
    }

    /// Downloads an offline copy again because its file cannot be read.
    /// - Parameter content: the content of the file that was read. The product may have a new one by now.
    func found(damaged product: ServiceAddress, _ content: [UInt8], _ what: String) {
        let budget = space.limits.bytes
        store.write(answerOn: loop) { [store] (rows) throws(DatabaseError) -> (isOurs: Bool, item: OfflineItem?) in
            // A missing medium does not make products damaged.
            guard try store.folder.isOurs(rows) else { return (false, nil) }
            guard let item = try rows.item(product), item.content == content else { return (true, nil) }
            if let length = store.fileLength(of: content), SealedLayout.sealedCount(of: item.count) != length {
                try rows.correctSize(
                    of: product.text, actual: SealedLayout.plainCount(inFileOf: length), budget: budget)
            }
            guard try rows.markDamaged(item) else { return (true, nil) }
            _ = try rows.add(
                product, item.referenceId, item.request, priority: 0, isAutomatic: item.isAutomatic, isRepair: true)
            return (true, item)
        } _: { [self] result in
            guard case .success((let isOurs, let item)) = result else { return }
            if !isOurs { folderLost() }
            guard let item else { return }
            Log.warning("\(product.text): \(what). It is downloaded again")
            report(product.text, item.referenceId, what)
            downloadsChanged()
        }
    }

    /// Downloads an offline copy again because its row has damaged values, if the row still names the product.
    /// - Parameter text: the product as the row names it.
    func found(unreadable text: String) {
        let product = ServiceAddress(text)
        let request = OfflineRequest(
            audioQuality: configuration.offlineAudioQuality, videoQuality: configuration.offlineVideoQuality)
        store.write(answerOn: loop) { (rows) throws(DatabaseError) -> String? in
            guard let reference = try rows.markUnreadable(text) else { return nil }
            if let product {
                _ = try rows.add(product, reference, request, priority: 0, isAutomatic: false, isRepair: true)
            }
            return reference
        } _: { [self] result in
            guard case .success(let reference?) = result else { return }
            let way = product == nil ? "It does not say which product it is of" : "It is downloaded again"
            Log.warning("\(text): its record is damaged. \(way)")
            report(text, reference, "its record is damaged")
            downloadsChanged()
        }
    }

    /// Marks downloads whose rows have damaged values as failed.
    func failUnreadableDownloads() {
        store.write(answerOn: loop) { (rows) throws(DatabaseError) in
            try rows.failUnreadableDownloads()
        } _: { [self] result in
            guard case .success(let failed) = result else { return }
            for download in failed {
                Log.warning("\(download.product): a download cannot begin: \(OfflineRows.unreadableDownload)")
                report(download.product, download.referenceId, OfflineRows.unreadableDownload)
            }
        }
    }

    private func report(_ product: String, _ reference: String, _ what: String) {
        let error = PlayerError(
            .unexpected, .media(.source(.integrity(reason: what))), message: "\(product): \(what).", mediaProduct: nil)
        bus.send(.failed(referenceId: reference, error))
    }
}
