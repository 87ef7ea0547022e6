import Database
import Fetching
import Platform
import Playback
import Streaming

/// The covers of offline copies: plain files in the storage folder, which cached thumbnails are as well.
///
/// A row is written after its file, and removed before it, as of copies. A cover that is lost is fetched again.
///
/// Thread: any that may block, but not a loop's and not the storage thread.
package final class OfflineCovers: Sendable {
    /// The most milliseconds that the end of a download waits for its cover.
    private static let patience = 5000

    private let store: OfflineStore
    private let space: OfflineSpace
    private let service: OfflineService
    /// The network for covers; nil: downloads fetch none.
    private let network: (any ServiceNetwork)?

    init(_ store: OfflineStore, _ space: OfflineSpace, _ service: OfflineService, _ network: (any ServiceNetwork)?) {
        (self.store, self.space, self.service, self.network) = (store, space, service, network)
    }

    /// Returns the path of the cover of a copy; nil without one.
    package func path(of entry: CatalogueEntry) -> String? {
        guard let product = ServiceAddress(entry.text) else { return nil }
        let stored = store.waitToRead { (rows) throws(DatabaseError) in try rows.cover(of: product) }
        guard let cover = stored ?? nil, isThere(cover) else { return nil }
        return store.path(of: cover.content)
    }

    private func isThere(_ cover: OfflineRows.Cover) -> Bool { store.fileLength(of: cover.content) == cover.count }

    /// Keeps a picture with the copy of a product, if there is one and there is room.
    package func keep(_ picture: FetchedPicture, of entry: CatalogueEntry) {
        guard let product = ServiceAddress(entry.text) else { return }
        let cover = OfflineRows.Cover(content: picture.digest, count: Int64(picture.length))
        let found = store.waitToRead { (rows) throws(DatabaseError) in
            (
                hasCopy: try rows.stored(product) != nil, former: try rows.cover(of: product),
                used: try OfflineSpace.counted(rows)
            )
        }
        guard let found, found.hasCopy, found.former != cover || !isThere(cover) else { return }
        if let most = space.most(beside: found.used), found.used > most - cover.count {
            return Log.info("\(product.text): there is no room for the cover of its offline copy")
        }
        do throws(SystemError) {
            try store.use(cover.content)
            defer { store.release(cover.content) }
            if !isThere(cover) { try write(picture, to: store.path(of: cover.content)) }
            // Power loss here: the next start finds a file without a row, and removes it.
            let unused = try? store.waitToWrite { (rows) throws(DatabaseError) in
                try rows.setCover(cover, of: product) ?? [cover.content]
            }
            store.removeFiles(unused ?? [])
        } catch {
            Log.info("\(product.text): the cover of its offline copy is not kept: \(error)")
        }
    }

    private func write(_ picture: FetchedPicture, to path: String) throws(SystemError) {
        var file = try FileReplacement(of: path, mode: 0o600)
        var offset = 0
        while offset < picture.length {
            let bytes = picture.read(64 << 10, at: offset)
            guard !bytes.isEmpty else { throw SystemError(code: 5, operation: "read", subject: "a cover") }
            var failure: SystemError?
            bytes.withUnsafeBytes { bytes in
                do throws(SystemError) { try file.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
            offset += bytes.count
        }
        try file.commit()
    }

    /// Fetches the cover of a copy that is complete now. Without one the copy is still whole.
    func fetch(of product: ServiceAddress, _ cancellation: Cancellation) {
        guard let network, let entry = CatalogueEntry(product.text) else { return }
        var transfer = CoverTransfer(
            network, service.settings, service.credentials, cancellation, permission: service.permission)
        transfer.patience = Self.patience
        do throws(CoverFailure) { keep(try transfer.fetch(entry), of: entry) } catch {
            if error != .none { Log.info("\(product.text): its cover is not there: \(error.reason)") }
        }
    }
}
