import CLinux
import Crypto
import Network
import Platform
import Synchronization

/// `@unchecked Sendable` is safe because the network thread alone uses it.
final class FileDestination: Destination, @unchecked Sendable {
    private let path: String
    private var file: File?
    private var offset: Int64 = 0
    private var failure: String?

    init(_ path: String) { self.path = path }

    func begin(_ head: ResponseHead, resume: @escaping @Sendable () -> Void) {
        do throws(SystemError) { file = try File(creating: path) } catch { failure = error.description }
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(SystemError) {
            try file?.write(bytes, at: offset)
            offset += Int64(bytes.count)
        } catch {
            failure = error.description
        }
        return true
    }

    func end(_ done: @escaping @Sendable (String?) -> Void) {
        do throws(SystemError) { try file?.synchronize() } catch { failure = error.description }
        done(failure)
    }
}

/// The cache as the player has it, with two differences. The network waits for the medium, where a player would rather
/// continue. There is no database, which has one row for each body.
/// `@unchecked Sendable` is safe because only the network thread uses the mutable state, except for the atomics.
final class SealedDestination: Destination, @unchecked Sendable {
    /// The most bytes that wait for the storage thread, and after how many bytes its progress is queried.
    private static let longestQueue = 512 << 10
    private static let step = 64 << 10

    private let index: RowlessIndex
    private let store: CacheStore
    private var recording: BodyRecording?
    private var resume: @Sendable () -> Void = {}
    private var unasked = 0
    private let queued = Atomic(0)
    private let isPaused = Atomic(false)

    /// - Returns: nil when the folder cannot be used.
    init?(_ folder: String) {
        guard let index = RowlessIndex() else { return nil }
        self.index = index
        var limits = CacheLimits(bytes: 2 << 30)
        limits.freeBytes = 0
        let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32))
        store = CacheStore("\(folder)/bodies", index, limits: limits, key: key) { 1_800_000_000 }
        store.start()
    }

    func begin(_ head: ResponseHead, resume: @escaping @Sendable () -> Void) {
        self.resume = resume
        var request = TransferRequest(url: head.effectiveURL)
        request.cacheScope = .path
        let response = CachedResponse(
            storing: head, of: request, body: SystemRandomSource().bytes(16), requested: 1_800_000_000,
            received: 1_800_000_000)
        recording = response.flatMap { store.record($0, length: head.contentLength) }
    }

    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if queued.load(ordering: .acquiring) > Self.longestQueue {
            isPaused.store(true, ordering: .sequentiallyConsistent)
            // The storage thread may have become ready meanwhile, and will not announce it again.
            if queued.load(ordering: .sequentiallyConsistent) > Self.longestQueue / 2 { return false }
            isPaused.store(false, ordering: .sequentiallyConsistent)
        }
        recording?.append(Array(bytes))
        unasked += bytes.count
        guard unasked >= Self.step else { return true }
        let count = unasked
        unasked = 0
        queued.add(count, ordering: .sequentiallyConsistent)
        index.perform { [self] in
            let left = queued.subtract(count, ordering: .sequentiallyConsistent).newValue
            if left <= Self.longestQueue / 2, isPaused.exchange(false, ordering: .sequentiallyConsistent) { resume() }
        }
        return true
    }

    func end(_ done: @escaping @Sendable (String?) -> Void) {
        guard let recording else { return done("not stored: no room, or the answer may not be kept") }
        recording.end(isComplete: true)
        index.perform { done(nil) }
    }
}

/// A storage thread without a database.
private final class RowlessIndex: CacheIndex {
    private let loop: EventLoop

    init?() {
        guard let loop = try? EventLoop() else { return nil }
        self.loop = loop
        guard (try? NamedThread.start(name: "storage", { loop.run() })) != nil else { return nil }
    }

    func find(_ key: CacheKey, _ answer: @escaping @Sendable (CachedResponse?) -> Void) { perform { answer(nil) } }
    func put(_ response: CachedResponse, size: Int64, limit: Int64, now: Int64, _ answer: @escaping Bodies) {}
    func refresh(_ response: CachedResponse, now: Int64) {}
    func remove(_ response: CachedResponse, _ answer: @escaping Bodies) {}
    func shrink(to limit: Int64, _ answer: @escaping Bodies) {}
    func hurry() {}
    func recount() {}
    func allBodies(_ answer: @escaping @Sendable ([[UInt8]]?) -> Void) { perform { answer([]) } }
    func perform(_ work: @escaping @Sendable () -> Void) { loop.post(work) }
}
