import Crypto
import Platform
import Synchronization

/// The body of a response, as far as it is on the medium, as it is read.
/// `@unchecked Sendable` is safe because the storage thread alone uses what changes.
public final class StoredBody: @unchecked Sendable {
    private let response: CachedResponse
    private let store: CacheStore
    /// Storage thread.
    private var reader: SealedReader?

    init(_ response: CachedResponse, of store: CacheStore) {
        self.response = response
        self.store = store
    }

    /// Reads one chunk, of `SealedLayout.chunkCount` bytes except for the last one. A body that is not what was written
    /// is removed from the cache.
    /// - Parameter answer: nil when it cannot be read. On the storage thread.
    public func read(_ chunk: Int64, _ answer: @escaping @Sendable ([UInt8]?) -> Void) {
        store.index.perform { [self] in
            do throws(SealedFileError) {
                let reader = if let reader { reader } else { try store.reader(of: response) }
                self.reader = reader
                answer(try reader.read(chunk))
            } catch {
                Log.info("a stored response is damaged and is removed from the cache")
                store.purge(response)
                answer(nil)
            }
        }
    }
}

/// The body of a response, as it is written. What arrives faster than the medium takes it ends the recording: playback
/// must not wait for the cache.
///
/// Thread: one at a time.
/// `@unchecked Sendable` is safe because the storage thread alone uses what changes, except for the atomic.
public final class BodyRecording: @unchecked Sendable {
    /// Bytes that wait for the storage thread at most.
    private static let longestQueue = 8 << 20
    /// How many bytes are written between two looks at the free space.
    private static let interval: Int64 = 4 << 20

    private let store: CacheStore
    private let queued = Atomic(0)
    // Storage thread.
    private var response: CachedResponse
    private var writer: SealedWriter?
    private var nextLook = interval
    private var hasFailed = false

    /// - Parameter length: the expected one, 0 when it is unknown.
    init(_ response: CachedResponse, expecting length: Int64, in store: CacheStore) {
        self.response = response
        self.store = store
        store.index.perform { [self] in
            store.makeRoom(for: length)
            attempt { () throws(SealedFileError) in writer = try store.writer(of: self.response) }
        }
    }

    /// The next bytes.
    public func append(_ bytes: [UInt8]) {
        let waiting = queued.wrappingAdd(bytes.count, ordering: .relaxed).newValue
        let isTooSlow = waiting > Self.longestQueue
        store.index.perform { [self, kept = isTooSlow ? [] : bytes] in
            queued.wrappingSubtract(bytes.count, ordering: .relaxed)
            attempt { () throws(SealedFileError) in
                // What came before a gap can be continued another time.
                if isTooSlow { hasFailed = true }
                guard let writer, !hasFailed else { return }
                guard writer.count + Int64(kept.count) <= store.limits.largestBody else {
                    return giveUp(isUseless: true)
                }
                if writer.count >= nextLook {
                    nextLook = writer.count + Self.interval
                    try store.checkFreeSpace()
                }
                try writer.append(kept)
            }
        }
    }

    /// The end of the body.
    /// - Parameter isComplete: whether all of it has arrived. Otherwise the part is kept if it can be continued.
    public func end(isComplete: Bool) {
        store.index.perform { [self] in
            defer { writer = nil }
            guard let writer else { return }
            let isWhole = isComplete && !hasFailed
            attempt { () throws(SealedFileError) in
                if isWhole {
                    try writer.finish()
                    response.count = writer.count
                    response.isComplete = true
                    store.keep(response)
                } else {
                    try keepPart(writer)
                }
            }
        }
    }

    private func keepPart(_ writer: SealedWriter) throws(SealedFileError) {
        let former = response.count
        let count = response.validator == nil || response.status != 200 ? 0 : try writer.interrupt()
        if count > former {
            response.count = count
            store.keep(response)
        } else if former == 0 {
            store.drop(response)
        } else {
            store.stopWriting(response)
        }
    }

    private func attempt(_ work: () throws(SealedFileError) -> Void) {
        do throws(SealedFileError) { try work() } catch {
            if case .damaged = error { giveUp(isUseless: true) } else { giveUp(isUseless: false) }
        }
    }

    /// A new body is dropped. A part that was there before stays unless it is of no use.
    private func giveUp(isUseless: Bool) {
        hasFailed = true
        writer = nil
        store.stopWriting(response)
        if response.count == 0 { store.drop(response) } else if isUseless { store.purge(response) }
    }
}
