import Crypto
import Database
import Platform

/// Compares the folder of what is kept with the database, once at the start, a 256th part at a time so that nothing
/// else waits long: removes files that nobody knows, and finds products whose file is missing or too short. It ends
/// when the folder is not that of the rows.
///
/// Thread: storage.
/// `@unchecked Sendable` is safe because that thread alone uses it.
final class ContentSweep: @unchecked Sendable {
    private let store: OfflineStore
    private let found: @Sendable ([(product: ServiceAddress, content: [UInt8])]) -> Void
    /// In nanoseconds.
    private static let pause: Int64 = 5_000_000

    /// - Parameter found: called with products of which a part is missing. On the storage thread.
    init(_ store: OfflineStore, found: @escaping @Sendable ([(product: ServiceAddress, content: [UInt8])]) -> Void) {
        self.store = store
        self.found = found
    }

    func start() { look(at: 0) }

    private func look(at byte: UInt8) {
        store.storage.query { [self] database in
            guard let database else { return }
            do throws(DatabaseError) {
                let rows = OfflineRows(database)
                guard try store.folder.isOurs(rows) else { return }
                try look(at: byte, rows)
            } catch {
                return Log.warning("what is kept offline is not checked: \(error.description)")
            }
            guard byte < 255 else { return }
            store.storage.schedule(after: Self.pause) { [self] in look(at: byte + 1) }
        }
    }

    private func look(at byte: UInt8, _ rows: OfflineRows) throws(DatabaseError) {
        let kept = try rows.contents(beginningWith: byte)
        let unfinished = try rows.unfinishedContents(beginningWith: byte)
        var missing: [(product: ServiceAddress, content: [UInt8])] = []
        for row in kept where isMissing(row.content, row.count) {
            if let product = ServiceAddress(row.product) { missing.append((product, row.content)) }
        }
        removeUnknown(
            in: "\(store.folder.path)/\(hexadecimal([byte]))", known: Set(kept.map { $0.content } + unfinished))
        if !missing.isEmpty { found(missing) }
    }

    /// Only what is certain: a medium that cannot be read now says nothing about the file.
    private func isMissing(_ content: [UInt8], _ count: Int64) -> Bool {
        do throws(SystemError) {
            return try File(reading: store.path(of: content)).length() != SealedLayout.sealedCount(of: count)
        } catch {
            return error.isMissingFile
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
