import CLinux
import Crypto
import Database
import Platform

/// The store of offline copies: rows in the database of the state, and one sealed file for each product. The files lie
/// in folders by the first byte of their names.
///
/// A row is written after its file is on the medium, and removed before its file. A power cut in between leaves a file
/// without a row, which the next start removes. It never leaves a row without its file.
///
/// Thread: any, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class OfflineStore: @unchecked Sendable {
    let folder: StorageFolder
    let storage: StorageThread
    private let deviceKey: DeviceKey
    private let lock = Lock()
    /// Files that are being written or read for the first time; their rows may not exist yet. Guarded by `lock`.
    private var inUse: Set<[UInt8]> = []

    /// Uses the storage until `close`.
    /// - Parameters:
    ///   - folder: created when it is missing; it holds nothing else.
    ///   - storage: the storage thread; its modules include `OfflineRows.schema`.
    init(_ folder: String, _ storage: StorageThread, _ deviceKey: consuming DeviceKey) {
        self.folder = StorageFolder(path: folder)
        self.storage = storage
        self.deviceKey = deviceKey
        storage.join()
    }

    /// Ends the use of the storage. No other call may follow. The last user of the storage blocks on the medium.
    package func close() { storage.leave() }

    // MARK: Rows

    /// Reads on the storage thread.
    /// - Parameter answer: called on `loop`, with nil when the rows cannot be read.
    func read<Result: Sendable>(
        answerOn loop: EventLoop, _ body: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result,
        _ answer: @escaping @Sendable (Result?) -> Void
    ) {
        storage.query { database in
            let result = Self.reading(database, body)
            loop.post { answer(result) }
        }
    }

    /// Reads rows and waits for the result. Must not be called on a loop's thread.
    /// - Returns: nil when the rows cannot be read.
    package func waitToRead<Result: Sendable>(
        _ body: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result
    ) -> Result? {
        let answer = FutureValue<Result?>()
        storage.query { answer.set(Self.reading($0, body)) }
        return answer.wait()
    }

    private static func reading<Result>(
        _ database: Database?, _ body: (OfflineRows) throws(DatabaseError) -> Result
    ) -> Result? {
        guard let database else { return nil }
        do throws(DatabaseError) { return try body(OfflineRows(database)) } catch {
            Log.warning("the offline copies cannot be read: \(error.description)")
            return nil
        }
    }

    /// Changes rows in one transaction.
    /// - Parameters:
    ///   - work: may run twice.
    ///   - answer: called on `loop` once the change is on the medium, or with the error when nothing was changed.
    func write<Result: Sendable>(
        answerOn loop: EventLoop?, _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result,
        _ answer: @escaping @Sendable (Swift.Result<Result, DatabaseError>) -> Void
    ) {
        storage.transact(answerOn: loop) { (database) throws(DatabaseError) in
            try work(OfflineRows(database))
        } answer: { result in
            answer(result.flatMap { $0.map { .success($0) } ?? .failure(DatabaseError.noState) })
        }
    }

    /// Changes rows and waits until the change is on the medium. Must not be called on a loop's thread.
    func waitToWrite<Result: Sendable>(
        _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let answer = FutureValue<Swift.Result<Result, DatabaseError>>()
        write(answerOn: nil, work) { answer.set($0) }
        return try answer.wait().get()
    }

    /// The free bytes that the state needs before a download begins: for its records and the log.
    private static let stateRoom: Int64 = 256 << 10

    /// Whether the medium of the state has room for the records of a download. Blocks on that medium.
    /// - Throws: `.full`.
    func checkState() throws(DatabaseError) {
        guard let path = storage.path else { return }
        do throws(SystemError) {
            guard try Folder.freeBytes(at: Folder.containing(path)) < Self.stateRoom else { return }
        } catch {
            // Ignored: the first record fails if the medium is unusable.
            return
        }
        throw DatabaseError(kind: .full, message: "there is no room for the records of downloads", path: path)
    }

    // MARK: Keys

    /// Checks whether the device's key still opens the stored keys, and counts the bytes of all rows. Products that are
    /// lost are downloaded again. If an earlier key is back, the products lost with it are whole again.
    /// - Parameter answer: gets the number of lost products, and whether the loss is new. Otherwise they were lost
    ///   before an earlier start and are still missing. Called on the storage thread.
    func checkKey(_ answer: @escaping @Sendable (_ lost: Int, _ isNew: Bool) -> Void) {
        write(answerOn: nil) { [self] (rows) throws(DatabaseError) -> (Int, Bool) in
            try rows.recount()
            let regained = try rows.regain { opens($0, of: $1) }
            if regained > 0 { Log.info("the former key of this device is back: \(regained) offline copies are whole") }
            let proof = try rows.keyProof()
            if let proof, open(proof, for: Self.proofContext) != nil {
                return (try rows.damagedCount { !opens($0, of: $1) }, false)
            }
            let lost = proof == nil ? 0 : try rows.lose { !opens($0, of: $1) }
            try rows.setKeyProof(seal(Self.proof, for: Self.proofContext))
            return (lost, true)
        } _: { result in
            if case .success((let lost, let isNew)) = result { answer(lost, isNew) }
        }
    }

    private static let proofContext = Array("proof".utf8)
    private static let proof = Array("tonearm".utf8)

    /// Returns a key for a new file, sealed with the device's key.
    func newKey(for content: [UInt8]) -> [UInt8] { seal(SystemRandomSource().bytes(32), for: content) }

    /// - Returns: nil when this device cannot open it, because its key has changed.
    func key(_ sealed: [UInt8], of content: [UInt8]) -> SecretBytes? {
        guard let bytes = open(sealed, for: content), bytes.count == 32 else { return nil }
        return SecretBytes(copying: bytes)
    }

    private func opens(_ sealed: [UInt8], of content: [UInt8]) -> Bool {
        if key(sealed, of: content) == nil { return false }
        return true
    }

    /// Seals a secret that belongs to a file.
    func seal(_ bytes: [UInt8], for content: [UInt8]) -> [UInt8] {
        lock.withLock { deviceKey.seal(bytes, context: Self.context(of: content)) }
    }

    func open(_ sealed: [UInt8], for content: [UInt8]) -> [UInt8]? {
        lock.withLock {
            do throws(CryptoError) { return try deviceKey.open(sealed, context: Self.context(of: content)) } catch {
                return nil
            }
        }
    }

    private static func context(of content: [UInt8]) -> [UInt8] { Array("tonearm.offline ".utf8) + content }

    // MARK: Files

    func path(of content: [UInt8]) -> String { folder.path(of: content) }

    /// Returns whether the folder belongs to the database now. Must not be called on a loop's thread.
    /// - Returns: nil when the rows cannot be read.
    func isFolderOurs() -> Bool? {
        waitToRead { [folder] (rows) throws(DatabaseError) in try folder.isOurs(rows) }
    }

    /// Creates the folder of a new file, and protects the file from removal until `release`.
    /// - Throws: ENOENT when the medium is missing; then no folder is created at its mount point.
    func use(_ content: [UInt8]) throws(SystemError) {
        if isFolderOurs() == false { throw SystemError(code: ENOENT, operation: "open", subject: folder.path) }
        let parent = Folder.containing(path(of: content))
        if FileKind(at: parent) != .folder {
            try Folder.create(parent, mode: 0o700)
            try Folder.synchronize(containing: parent)
        }
        lock.withLock { _ = inUse.insert(content) }
    }

    func release(_ content: [UInt8]) { lock.withLock { _ = inUse.remove(content) } }

    func isInUse(_ content: [UInt8]) -> Bool { lock.withLock { inUse.contains(content) } }

    /// - Returns: the length of the file in bytes, 0 when it is missing; nil when it cannot be read now.
    func fileLength(of content: [UInt8]) -> Int64? {
        do throws(SystemError) { return try File(reading: path(of: content)).length() } catch {
            return error.isMissingFile ? 0 : nil
        }
    }

    /// Removes files whose rows are removed. Playback of such a file continues, because it stays on the medium until it
    /// is closed. Blocks.
    func removeFiles(_ contents: [[UInt8]]) {
        for content in contents {
            do throws(SystemError) { try Folder.removeFile(path(of: content)) } catch {
                Log.warning("a file of an offline copy cannot be removed: \(error)")
            }
        }
    }
}

extension DatabaseError {
    /// The error of an appliance without a state folder, which cannot store downloads.
    fileprivate static var noState: DatabaseError {
        DatabaseError(kind: .notAccessible, message: "there is no state folder", path: "")
    }
}
