import Crypto
import Database
import Platform

/// The file of a download as it grows, and the record of how many of its bytes are on the medium.
///
/// Thread: the download's.
final class GrowingContent {
    private let store: OfflineStore
    private let download: QueuedDownload
    private let writer: SealedWriter
    private let interval: Int64
    /// The progress at the last record, with the parts and the percentage since.
    private var progress: OfflineProgress
    /// The resource and the byte in it to begin at. With a `validator`, the resource is continued only if it still
    /// matches.
    let start: (index: Int, offset: Int64, validator: String?)

    /// Continues the recorded part of the download if it belongs to the same content; otherwise begins a new file.
    /// - Parameter interval: how many bytes are written between two records.
    init(
        _ download: QueuedDownload, _ fingerprint: [UInt8], in store: OfflineStore, recordedEvery interval: Int64
    ) throws(OfflineFailure) {
        (self.store, self.download, self.interval) = (store, download, interval)
        if var progress = download.progress, progress.fingerprint == fingerprint,
            let key = store.key(progress.sealedKey, of: progress.content),
            let writer = try Self.continued(progress, key, in: store)
        {
            self.writer = writer
            start = progress.parts.cut(to: progress.synced)
            self.progress = progress
            return
        }
        let content = SystemRandomSource().bytes(SealedChunks.identityCount)
        do throws(SystemError) { try store.use(content) } catch { throw OfflineFailure(.system(error)) }
        let sealed = store.newKey(for: content)
        guard let key = store.key(sealed, of: content) else { preconditionFailure("GrowingContent: a key of its own") }
        do throws(SealedFileError) {
            writer = try SealedWriter(creating: store.path(of: content), content, key)
        } catch {
            store.release(content)
            throw OfflineFailure(error)
        }
        progress = OfflineProgress(
            content: content, sealedKey: sealed, fingerprint: fingerprint, synced: 0, parts: ContentParts(), percent: 0)
        start = (0, 0, nil)
        if let former = download.progress { try forget(former) }
    }

    deinit { store.release(content) }

    /// The name of the file.
    var content: [UInt8] { progress.content }

    /// - Returns: nil when the file is missing or does not match the record: it is fetched from its beginning.
    private static func continued(
        _ progress: OfflineProgress, _ key: borrowing SecretBytes, in store: OfflineStore
    ) throws(OfflineFailure) -> SealedWriter? {
        do throws(SystemError) { try store.use(progress.content) } catch { throw OfflineFailure(.system(error)) }
        do throws(SealedFileError) {
            return try SealedWriter(
                continuing: store.path(of: progress.content), progress.content, count: progress.synced, key)
        } catch {
            store.release(progress.content)
            // An error at opening proves nothing about the content of the file.
            if case .system(let reason) = error, !reason.isMissingFile, !reason.isOfMedium {
                throw OfflineFailure(error)
            }
            return nil
        }
    }

    /// Removes the recorded part, because it belongs to other content.
    private func forget(_ former: OfflineProgress) throws(OfflineFailure) {
        let download = download
        do throws(DatabaseError) {
            _ = try store.waitToWrite { (rows) throws(DatabaseError) in try rows.setProgress(nil, of: download) }
        } catch {
            throw OfflineFailure(error)
        }
        store.removeFiles([former.content])
    }

    /// The size of the content so far, in bytes.
    var count: Int64 { writer.count }

    /// Notes that the next resource begins here.
    func begin(validator: String?) { progress.parts.all.append(.init(start: count, validator: validator)) }

    /// Returns the position of a resource, in bytes.
    /// - Parameter resource: a resource that has begun.
    func offset(of resource: Int) -> Int64 { progress.parts.all[resource].start }

    func append(_ bytes: [UInt8]) throws(OfflineFailure) {
        do throws(SealedFileError) { try writer.append(bytes) } catch { throw OfflineFailure(error) }
    }

    /// Reads appended bytes.
    /// - Returns: the number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SealedFileError) -> Int {
        try writer.read(into: buffer, at: offset)
    }

    /// Records the progress when enough was written since the last record.
    /// - Returns: whether it was recorded.
    func reached(percent: Int) throws(OfflineFailure) -> Bool {
        progress.percent = max(progress.percent, Int64(percent))
        guard count - progress.synced >= interval else { return false }
        try record()
        return true
    }

    /// Syncs the file, then records its progress.
    private func record() throws(OfflineFailure) {
        let synced: Int64
        do throws(SealedFileError) { synced = try writer.interrupt() } catch { throw OfflineFailure(error) }
        guard synced > progress.synced else { return }
        progress.parts.forgetValidators(before: synced)
        var new = progress
        new.synced = synced
        let (download, recorded) = (download, new)
        let isWanted: Bool
        do throws(DatabaseError) {
            isWanted = try store.waitToWrite { (rows) throws(DatabaseError) in
                try rows.setProgress(recorded, of: download)
            }
        } catch {
            throw OfflineFailure(error)
        }
        progress = recorded
        if !isWanted { throw .stopped }
    }

    /// Ends the run and records its progress. A later run continues from there, unless the product was deleted.
    func leave() {
        do throws(OfflineFailure) { try record() } catch {
            if error != .stopped { Log.warning("how far a download is cannot be recorded") }
        }
        let download = download
        let found = store.waitToRead { (rows) throws(DatabaseError) in
            try rows.download(download.product)?.number == download.number
        }
        // A file without a record would stay unused until the next start: remove it.
        if found == false || progress.synced == 0 { store.removeFiles([content]) }
    }

    /// Syncs the complete file.
    /// - Returns: the key of the file, sealed with the device's key.
    func finish() throws(OfflineFailure) -> [UInt8] {
        do throws(SealedFileError) { try writer.finish() } catch { throw OfflineFailure(error) }
        return progress.sealedKey
    }

    /// Removes the file and its record, because it cannot be used.
    func discard() throws(OfflineFailure) {
        let download = download
        do throws(DatabaseError) {
            _ = try store.waitToWrite { (rows) throws(DatabaseError) in try rows.setProgress(nil, of: download) }
        } catch {
            throw OfflineFailure(error)
        }
        store.removeFiles([content])
    }
}
