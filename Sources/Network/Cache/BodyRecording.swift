import Crypto
import Platform
import Synchronization

/// The body of a response while it is written. A body that arrives faster than the medium takes it ends the recording,
/// because playback must not wait for the cache. The body can be read while it grows.
///
/// Thread: one at a time.
/// `@unchecked Sendable` is safe because only the storage thread uses the mutable state, except for the atomics.
public final class BodyRecording: @unchecked Sendable {
    private enum Progress: Int {
        /// The file is not open yet.
        case opening
        case growing
        case failed
    }

    /// The maximum number of bytes that wait for the storage thread.
    private static let longestQueue = 8 << 20
    /// The number of bytes waiting for the storage thread above which a sender that can wait should wait.
    private static let comfortableQueue = 1 << 20
    /// How many bytes are written between two checks of the free space.
    private static let interval: Int64 = 4 << 20

    private let store: CacheStore
    private let queued = Atomic(0)
    private let condition = Atomic(Progress.opening.rawValue)
    // Storage thread.
    private var response: CachedResponse
    private var writer: SealedWriter?
    private var nextLook = interval
    /// Whether nothing more is appended.
    private var hasFailed = false
    /// Whether the body is not stored. Appended bytes can be read until this object is deinitialised.
    private var isGivenUp = false

    /// - Parameter length: the expected length in bytes; 0 when it is unknown.
    init(_ response: CachedResponse, expecting length: Int64, in store: CacheStore) {
        self.response = response
        self.store = store
        store.index.perform { [self] in
            store.makeRoom(for: length)
            attempt { () throws(SealedFileError) in
                writer = try store.writer(of: self.response)
                _ = condition.compareExchange(
                    expected: Progress.opening.rawValue, desired: Progress.growing.rawValue, ordering: .relaxed)
            }
        }
    }

    /// Whether the recording takes bytes, so that `read` returns everything appended.
    public var isReadable: Bool { condition.load(ordering: .relaxed) == Progress.growing.rawValue }

    /// Whether the file is not open yet: `isReadable` may become true.
    public var isOpening: Bool { condition.load(ordering: .relaxed) == Progress.opening.rawValue }

    /// Whether a sender that can wait should wait for the medium.
    public var isBehind: Bool { queued.load(ordering: .relaxed) > Self.comfortableQueue }

    /// Calls `action` on the storage thread after everything that was appended before.
    public func afterWriting(_ action: @escaping @Sendable () -> Void) { store.index.perform(action) }

    /// Reads bytes that were appended before this call, up to the end of a chunk.
    /// - Parameters:
    ///   - offset: the offset in the body, in bytes.
    ///   - answer: gets empty bytes if no bytes were appended at the offset yet; nil when the body cannot be read, or
    ///     ends before the offset. Called on the storage thread.
    public func read(at offset: Int64, _ answer: @escaping @Sendable ([UInt8]?) -> Void) {
        store.index.perform { [self] in
            guard let writer else { return answer(nil) }
            do throws(SealedFileError) {
                var bytes = [UInt8](repeating: 0, count: SealedLayout.chunkCount)
                let count = try bytes.withUnsafeMutableBufferPointer { (buffer) throws(SealedFileError) -> Int in
                    try writer.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
                }
                bytes.removeLast(bytes.count - count)
                answer(count == 0 && hasFailed ? nil : bytes)
            } catch {
                giveUp(isUseless: true)
                self.writer = nil
                answer(nil)
            }
        }
    }

    /// Appends the next bytes.
    public func append(_ bytes: [UInt8]) {
        let waiting = queued.wrappingAdd(bytes.count, ordering: .relaxed).newValue
        let isTooSlow = waiting > Self.longestQueue
        // Fails without waiting for the storage thread. Earlier bytes can still be read, but no later ones.
        if isTooSlow { become(.failed) }
        store.index.perform { [self, kept = isTooSlow ? [] : bytes] in
            queued.wrappingSubtract(bytes.count, ordering: .relaxed)
            attempt { () throws(SealedFileError) in
                // The part before a gap can be continued later.
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

    /// Ends the body.
    /// - Parameters:
    ///   - isComplete: whether the whole body has arrived. Otherwise the part is stored if it can be continued.
    ///   - staysReadable: whether `read` is called after this, until this object is deinitialised.
    public func end(isComplete: Bool, staysReadable: Bool = false) {
        store.index.perform { [self] in
            defer { if !staysReadable { writer = nil } }
            guard let writer, !isGivenUp else { return }
            let isWhole = isComplete && !hasFailed
            attempt { () throws(SealedFileError) in
                if isWhole {
                    try writer.finish()
                    response.count = writer.count
                    response.isComplete = true
                    store.keep(response)
                } else {
                    try downloadPart(writer)
                }
            }
        }
    }

    private func downloadPart(_ writer: SealedWriter) throws(SealedFileError) {
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

    private func become(_ condition: Progress) { self.condition.store(condition.rawValue, ordering: .relaxed) }

    private func attempt(_ work: () throws(SealedFileError) -> Void) {
        do throws(SealedFileError) { try work() } catch {
            if case .damaged = error { giveUp(isUseless: true) } else { giveUp(isUseless: false) }
        }
    }

    /// Ends the recording after an error. A new body is dropped. A part that existed before stays unless it is useless.
    private func giveUp(isUseless: Bool) {
        if isGivenUp { return }
        (hasFailed, isGivenUp) = (true, true)
        become(.failed)
        store.stopWriting(response)
        if response.count == 0 { store.drop(response) } else if isUseless { store.purge(response) }
    }
}
