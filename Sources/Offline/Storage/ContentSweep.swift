import Crypto
import Database
import Platform
import Playback

/// Compares the storage folder with the database, once at the start. It takes a 256th part at a time, so that other
/// work on the thread never waits long.
///
/// It removes files that no row names. It finds products whose file is missing or differs in size from the row, and
/// rows with damaged values. It ends when the folder does not belong to the database.
///
/// Thread: storage.
/// `@unchecked Sendable` is safe because that thread alone uses it.
final class ContentSweep: @unchecked Sendable {
    enum Finding: Equatable, Sendable {
        /// The file of a product is missing, or is not as large as its row says.
        case damaged(ServiceAddress, content: [UInt8])
        /// The row of an offline copy has damaged values. `product` is the text of the row.
        case unreadable(product: String)
        /// Rows of downloads have damaged values.
        case unreadableDownloads
        /// Parts of downloads were not on the medium as recorded; their progress is reset.
        case partsForgotten
    }

    private let store: OfflineStore
    private let report: @Sendable (Finding) -> Void
    /// The pause between two parts, in nanoseconds.
    private static let pause: Int64 = 5_000_000
    /// Downloads that are read in one query.
    private static let page = 200

    /// - Parameter report: called on the storage thread.
    init(_ store: OfflineStore, report: @escaping @Sendable (Finding) -> Void) {
        self.store = store
        self.report = report
    }

    func start() { look(at: 0) }

    private func look(at byte: UInt8) {
        look { [self] (rows) throws(DatabaseError) in
            try look(at: byte, rows)
        } then: { [self] in
            if byte < 255 { look(at: byte + 1) } else { lookAtRows() }
        }
    }

    /// - Parameter then: called after a pause, unless the folder does not belong to the database, or a read fails.
    private func look(
        _ body: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Void, then: @escaping @Sendable () -> Void
    ) {
        store.storage.query { [store] database in
            guard let database else { return }
            do throws(DatabaseError) {
                let rows = OfflineRows(database)
                guard try store.folder.isOurs(rows) else { return }
                try body(rows)
            } catch {
                return Log.warning("the offline copies are not checked: \(error.description)")
            }
            store.storage.schedule(after: Self.pause, then)
        }
    }

    private func look(at byte: UInt8, _ rows: OfflineRows) throws(DatabaseError) {
        let stored = try rows.contents(beginningWith: byte)
        let unfinished = try rows.unfinishedContents(beginningWith: byte)
        for row in stored {
            guard row.isReadable, let product = ServiceAddress(row.product) else {
                report(.unreadable(product: row.product))
                continue
            }
            if isWrong(row.content, row.count) { report(.damaged(product, content: row.content)) }
        }
        for part in unfinished where isTooShort(part.content, part.synced) { forget(part.content, part.number) }
        removeUnknown(
            in: "\(store.folder.path)/\(hexadecimal([byte]))",
            known: Set(
                stored.map { $0.content } + unfinished.map { $0.content } + (try rows.covers(beginningWith: byte))))
    }

    /// Reports only certain damage: a read error of the medium proves nothing about the file.
    private func isWrong(_ content: [UInt8], _ count: Int64) -> Bool {
        guard let length = store.fileLength(of: content) else { return false }
        return length != SealedLayout.sealedCount(of: count)
    }

    /// Skips files in use: a running download knows its own progress.
    private func isTooShort(_ content: [UInt8], _ synced: Int64) -> Bool {
        guard !store.isInUse(content), let length = store.fileLength(of: content) else { return false }
        return synced < 0 || synced > SealedLayout.plainCount(inFileOf: length)
    }

    /// Resets the progress of a download; it begins again.
    private func forget(_ content: [UInt8], _ number: Int64) {
        store.write(answerOn: nil) { [store] (rows) throws(DatabaseError) in
            if store.isInUse(content) { return false }
            return try rows.forgetPart(content, of: number)
        } _: { [store, report] result in
            guard case .success(true) = result else { return }
            Log.warning("a part of a download is not on the medium as it was recorded: it is fetched again")
            store.removeFiles([content])
            report(.partsForgotten)
        }
    }

    /// Finds offline copies whose rows name no file, which the search by file names misses.
    private func lookAtRows() {
        look { [self] (rows) throws(DatabaseError) in
            for product in try rows.itemsWithoutContent() { report(.unreadable(product: product)) }
        } then: { [self] in
            lookAtDownloads(after: .min)
        }
    }

    private func lookAtDownloads(after number: Int64) {
        let next = JobPlace(number)
        look { [self] (rows) throws(DatabaseError) in
            let downloads = try rows.listedDownloads(after: number, limit: Self.page)
            next.number = downloads.last?.number
            guard downloads.contains(where: { $0.row == nil }) else { return }
            report(.unreadableDownloads)
            next.number = nil
        } then: { [self] in
            if let number = next.number { lookAtDownloads(after: number) }
        }
    }

    private func removeUnknown(in folder: String, known: Set<[UInt8]>) {
        guard FileKind(at: folder) == .folder else { return }
        do throws(SystemError) {
            for entry in try Folder.entries(of: folder) where entry.kind == .file {
                if let content = Hexadecimal.bytes(entry.name),
                    known.contains(content) || store.isInUse(content)
                {
                    continue
                }
                try Folder.removeFile("\(folder)/\(entry.name)")
            }
        } catch {
            Log.warning("\(folder) is not cleaned up: \(error)")
        }
    }
}

/// The sweep's position among the downloads.
/// `@unchecked Sendable` is safe because the storage thread alone uses it.
private final class JobPlace: @unchecked Sendable {
    /// The number of the last download that was read; nil at the end.
    var number: Int64?

    init(_ number: Int64) { self.number = number }
}
