import Crypto
import Platform
import Synchronization

/// The limits of the cache.
public struct CacheLimits: Equatable, Sendable {
    /// The maximum size of all files of bodies, in bytes.
    public var bytes: Int64
    /// The space on the file system that stays free for others, in bytes.
    public var freeBytes: Int64 = 128 << 20

    public init(bytes: Int64) { self.bytes = bytes }

    /// The largest body that is stored, in bytes: a larger one would leave too little room for others.
    public var largestBody: Int64 { bytes / 2 }
}

/// The stored responses: an index, and the sealed files of their bodies in a folder.
///
/// A row is written after its file is on the medium, and removed before its file. A power cut in between leaves a file
/// without a row, which the next start removes. It never leaves a row without its file.
///
/// Thread: any, except where a declaration says otherwise. Answers are called on the storage thread.
/// `@unchecked Sendable` is safe because only the storage thread uses the mutable state.
public final class CacheStore: @unchecked Sendable {
    let index: any CacheIndex
    public let limits: CacheLimits
    /// The time between two records of the use of a response, in seconds.
    private static let useInterval: Int64 = 3600

    private let folder: String
    private let key: SecretBytes
    private let now: @Sendable () -> Int64
    /// Bodies that are being written. Storage thread.
    private var writing: [[UInt8]] = []

    /// - Parameters:
    ///   - folder: for the cache alone; created when it is missing.
    ///   - key: for the bodies, 32 bytes.
    ///   - now: seconds since 1970, for the order of use.
    public init(
        _ folder: String, _ index: any CacheIndex, limits: CacheLimits, key: consuming SecretBytes,
        now: @escaping @Sendable () -> Int64
    ) {
        self.folder = folder
        self.index = index
        self.limits = limits
        self.key = key
        self.now = now
    }

    /// Creates the folder, and removes files that an interruption has left. Call it once, before any other function.
    public func start() {
        index.allBodies { [self] known in
            do throws(SystemError) {
                try Folder.create(folder, mode: 0o700)
                guard let known else { return }
                let bodies = Set(known + writing)
                for entry in try Folder.entries(of: folder) where entry.kind == .file {
                    if let body = Hexadecimal.bytes(entry.name), bodies.contains(body) { continue }
                    try Folder.removeFile("\(folder)/\(entry.name)")
                }
            } catch {
                Log.warning("the cache in \(folder) cannot be used: \(error)")
            }
        }
        index.recount()
        index.shrink(to: limits.bytes) { [self] in removeFiles($0) }
    }

    // MARK: Reading

    /// Answers with the response that is stored under `key`; nil without one.
    public func find(_ key: CacheKey, _ answer: @escaping @Sendable (CachedResponse?) -> Void) {
        index.find(key, answer)
    }

    /// Returns a reader of the body, chunk by chunk.
    public func body(of response: CachedResponse) -> StoredBody { StoredBody(response, of: self) }

    /// Updates the details of a stored response that is still valid, and the time of its use.
    public func refresh(_ response: CachedResponse) { index.refresh(response, now: now()) }

    /// Records the use of a stored response, at most once an hour, because writing wears the medium.
    public func use(_ response: CachedResponse) {
        if now() - response.used >= Self.useInterval { refresh(response) }
    }

    /// Removes a response that cannot be read.
    public func purge(_ response: CachedResponse) { index.remove(response) { [self] in removeFiles($0) } }

    // MARK: Writing

    /// Begins to store a response, or to continue a stored one.
    /// - Parameter length: the length of the body, in bytes; nil when it is unknown.
    /// - Returns: nil when the body is too large.
    public func record(_ response: CachedResponse, length: Int64?) -> BodyRecording? {
        if let length, length > limits.largestBody { return nil }
        return BodyRecording(response, expecting: length ?? 0, in: self)
    }

    /// Removes some of the least recently used responses, because others need the room more.
    /// - Parameter answer: gets whether anything was removed. Called on the storage thread.
    public func evict(_ answer: @escaping @Sendable (Bool) -> Void) {
        index.shrink(to: 0) { [self] bodies in
            removeFiles(bodies)
            answer(!bodies.isEmpty)
        }
        index.hurry()
    }

    // MARK: For bodies. Storage thread

    func reader(of response: CachedResponse) throws(SealedFileError) -> SealedReader {
        try SealedReader(
            path(of: response.body), response.body, count: response.count, isComplete: response.isComplete, key)
    }

    /// - Throws: ENOSPC also when the free space must stay for others.
    func writer(of response: CachedResponse) throws(SealedFileError) -> SealedWriter {
        try checkFreeSpace()
        // Notes also a continued body, because its row may be removed meanwhile, but its file must stay.
        writing.append(response.body)
        if response.count > 0 {
            return try SealedWriter(continuing: path(of: response.body), response.body, count: response.count, key)
        }
        return try SealedWriter(creating: path(of: response.body), response.body, key)
    }

    func checkFreeSpace() throws(SealedFileError) {
        do throws(SystemError) {
            guard try Folder.freeBytes(at: folder) < limits.freeBytes else { return }
            // Make room for the next body, in one step.
            index.shrink(to: limits.bytes / 2) { [self] in removeFiles($0) }
            throw SystemError(code: SystemError.outOfSpace, operation: "write", subject: folder)
        } catch {
            throw .system(error)
        }
    }

    func makeRoom(for bytes: Int64) {
        index.shrink(to: max(0, limits.bytes - bytes)) { [self] in removeFiles($0) }
    }

    /// Stores a response whose body is on the medium.
    func keep(_ response: CachedResponse) {
        let size = SealedLayout.sealedCount(of: response.count) ?? .max
        index.put(response, size: size, limit: limits.bytes, now: now()) { [self] unused in
            stopWriting(response)
            removeFiles(unused)
        }
    }

    /// Removes the file of a new body.
    func drop(_ response: CachedResponse) {
        stopWriting(response)
        removeFiles([response.body])
    }

    func stopWriting(_ response: CachedResponse) { writing.removeAll { $0 == response.body } }

    private func removeFiles(_ bodies: [[UInt8]]) {
        for body in bodies where !writing.contains(body) {
            do throws(SystemError) { try Folder.removeFile(path(of: body)) } catch {
                Log.warning("a file of the cache cannot be removed: \(error)")
            }
        }
    }

    private func path(of body: [UInt8]) -> String { "\(folder)/\(hexadecimal(body))" }
}
