import CLinux
import Crypto
import Database
import Platform

/// What is kept: rows in the database of the state, and one sealed file for each product, in folders by the first byte
/// of its name.
///
/// A row is written after its file is on the medium, and removed before its file. A power cut in between leaves a file
/// without a row, which the next start removes; never a row that promises what is not there.
///
/// Thread: any, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class OfflineStore: @unchecked Sendable {
    let folder: KeptFolder
    let storage: StorageThread
    private let deviceKey: DeviceKey
    private let lock = Lock()
    /// Files that are being written or read for the first time: their rows may not be there yet. Guarded by `lock`.
    private var inUse: Set<[UInt8]> = []

    /// Uses the storage until `close`.
    /// - Parameters:
    ///   - folder: is created when it is missing, and holds nothing else.
    ///   - storage: its modules include `OfflineRows.schema`.
    init(_ folder: String, _ storage: StorageThread, _ deviceKey: consuming DeviceKey) {
        self.folder = KeptFolder(path: folder)
        self.storage = storage
        self.deviceKey = deviceKey
        storage.join()
    }

    /// The last call. Blocks on the medium when it is the last user of the storage.
    func close() { storage.leave() }

    // MARK: Rows

    /// Reads on the storage thread.
    /// - Parameter answer: on `loop`, with nil when nothing can be read.
    func read<Result: Sendable>(
        answerOn loop: EventLoop, _ body: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result,
        _ answer: @escaping @Sendable (Result?) -> Void
    ) {
        storage.query { database in
            let result = Self.reading(database, body)
            loop.post { answer(result) }
        }
    }

    /// Reads and waits for it. Not on a loop's thread.
    /// - Returns: nil when nothing can be read.
    func waitToRead<Result: Sendable>(
        _ body: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result
    ) -> Result? {
        let answer = Answer<Result?>()
        storage.query { answer.set(Self.reading($0, body)) }
        return answer.wait()
    }

    private static func reading<Result>(
        _ database: Database?, _ body: (OfflineRows) throws(DatabaseError) -> Result
    ) -> Result? {
        guard let database else { return nil }
        do throws(DatabaseError) { return try body(OfflineRows(database)) } catch {
            Log.warning("what is kept offline cannot be read: \(error.description)")
            return nil
        }
    }

    /// Changes rows in one transaction.
    /// - Parameters:
    ///   - work: may run twice.
    ///   - answer: on `loop`, once it is on the medium, or with the reason why nothing of it is.
    func write<Result: Sendable>(
        answerOn loop: EventLoop?, _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result,
        _ answer: @escaping @Sendable (Swift.Result<Result, DatabaseError>) -> Void
    ) {
        let result = WorkResult<Result>()
        storage.write(answerOn: loop) { (database) throws(DatabaseError) in
            result.value = try work(OfflineRows(database))
        } answer: { error in
            if let error { return answer(.failure(error)) }
            // Without a file for the state nothing has run.
            guard let value = result.value else { return answer(.failure(.noState)) }
            answer(.success(value))
        }
    }

    /// Changes rows and waits until that is on the medium. Not on a loop's thread.
    func waitToWrite<Result: Sendable>(
        _ work: @escaping @Sendable (OfflineRows) throws(DatabaseError) -> Result
    ) throws(DatabaseError) -> Result {
        let answer = Answer<Swift.Result<Result, DatabaseError>>()
        write(answerOn: nil, work) { answer.set($0) }
        return try answer.wait().get()
    }

    /// What has to be free for the state before a download begins, in bytes: its records and the log before them.
    private static let stateRoom: Int64 = 256 << 10

    /// Whether the medium of the state has room for the records of a download. Blocks on that medium.
    /// - Throws: `.full`.
    func checkState() throws(DatabaseError) {
        guard let path = storage.path else { return }
        do throws(SystemError) {
            guard try Folder.freeBytes(at: Folder.containing(path)) < Self.stateRoom else { return }
        } catch {
            // The first record will tell.
            return
        }
        throw DatabaseError(kind: .full, message: "there is no room for the records of downloads", path: path)
    }

    // MARK: Keys

    /// Looks whether the device's key is still that under which everything lies, counts the bytes of all rows, and has
    /// everything downloaded again that is lost. What was lost with an earlier key is whole again where that is back.
    /// - Parameter answer: how many products are lost, and whether that is new: otherwise they were lost before an
    ///   earlier start, and are missing still. On the storage thread.
    func checkKey(_ answer: @escaping @Sendable (_ lost: Int, _ isNew: Bool) -> Void) {
        write(answerOn: nil) { [self] (rows) throws(DatabaseError) -> (Int, Bool) in
            try rows.recount()
            let regained = try rows.regain { opens($0, of: $1) }
            if regained > 0 { Log.info("the former key of this device is back: \(regained) kept products are whole") }
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

    /// A key for a new file, sealed under the device's.
    func newKey(for content: [UInt8]) -> [UInt8] { seal(SystemRandomSource().bytes(32), for: content) }

    /// - Returns: nil when this device cannot open it: its key is another one now.
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

    /// Whether the folder is that of the rows, as of now. Not on a loop's thread.
    /// - Returns: nil when nothing can be read.
    func isFolderOurs() -> Bool? {
        waitToRead { [folder] (rows) throws(DatabaseError) in try folder.isOurs(rows) }
    }

    /// Creates the folder of a new file, and keeps the file from being removed until `release`.
    /// - Throws: ENOENT when the medium is missing: nothing is created where it should be mounted.
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

    /// - Returns: the length of the file in bytes, 0 when it is missing; nil when that cannot be found out now.
    func fileLength(of content: [UInt8]) -> Int64? {
        do throws(SystemError) { return try File(reading: path(of: content)).length() } catch {
            return error.isMissingFile ? 0 : nil
        }
    }

    /// Removes files whose rows are gone. What plays one goes on: the file stays until it is closed. Blocks.
    func removeFiles(_ contents: [[UInt8]]) {
        for content in contents {
            do throws(SystemError) { try Folder.removeFile(path(of: content)) } catch {
                Log.warning("a file that was kept offline cannot be removed: \(error)")
            }
        }
    }
}

extension DatabaseError {
    /// The appliance stores nothing, so nothing can be kept.
    fileprivate static var noState: DatabaseError {
        DatabaseError(kind: .notAccessible, message: "there is no state folder", path: "")
    }
}

/// What work on the storage thread has found out.
/// `@unchecked Sendable` is safe because that thread alone uses it.
private final class WorkResult<Value>: @unchecked Sendable {
    var value: Value?
}

/// An answer that a thread waits for.
/// `@unchecked Sendable` is safe because `condition` guards the value.
final class Answer<Value>: @unchecked Sendable {
    private let condition = Condition()
    private var value: Value?

    func set(_ value: Value) { condition.update { self.value = value } }

    func wait() -> Value {
        condition.wait { value != nil }
        return value!
    }
}
