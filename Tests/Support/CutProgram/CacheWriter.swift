import Crypto
import Database
import FileCalls
import Glibc
import Network
import Platform
import Player

/// Stores responses in a process that a test can cut off:
///
///     CutProgram cache FOLDER CALL     ends at the file call with this number, from 0
///
/// The bodies of `/0` to `/3` are of `sizes`, and each byte is the response's number. `/0` arrives in two parts. The
/// limit makes it evict.
enum CacheWriter {
    static let sizes = [150_000, 10, 65_536, 70_000]

    static func run(_ words: [String]) throws {
        let folder = words[0]
        file_calls_cut(Int(words[1]) ?? -1)
        let storage = try StorageThread("\(folder)/state.db", modules: [DatabaseCacheIndex.schema])
        let index = DatabaseCacheIndex(storage)
        var limits = CacheLimits(bytes: 330_000)
        limits.freeBytes = 0
        let key = SecretBytes(copying: Array(UInt8(0)..<32))
        let store = CacheStore("\(folder)/bodies", index, limits: limits, key: key) { 1_800_000_000 }
        store.start()
        settle(storage)
        for round in 0..<2 {
            for number in sizes.indices { write(number, isPart: number == 0 && round == 0, store, storage) }
        }
        index.close()
    }

    private static func write(_ number: Int, isPart: Bool, _ store: CacheStore, _ storage: StorageThread) {
        var request = TransferRequest(url: "https://a.example/\(number)")
        request.cacheScope = .path
        let head = ResponseHead(
            status: 200, headers: [HeaderField("ETag", "\"\(number)\"")], effectiveURL: request.url)
        guard
            var response = CachedResponse(
                storing: head, of: request, body: SystemRandomSource().bytes(16), requested: 1_800_000_000,
                received: 1_800_000_000)
        else { exit(1) }
        if number == 0, !isPart, let part = stored(response.key, store, storage), !part.isComplete { response = part }
        guard let recording = store.record(response, length: nil) else { exit(1) }
        let end = isPart ? 100_000 : sizes[number]
        let start = Int(response.count)
        recording.append([UInt8](repeating: UInt8(number), count: max(0, end - start)))
        recording.end(isComplete: !isPart)
        settle(storage)
    }

    private static func stored(_ key: CacheKey, _ store: CacheStore, _ storage: StorageThread) -> CachedResponse? {
        let found = Found()
        store.find(key) { found.response = $0 }
        settle(storage)
        return found.response
    }

    /// `@unchecked Sendable` is safe because `settle` waits for the storage thread.
    private final class Found: @unchecked Sendable {
        var response: CachedResponse?
    }

    private static func settle(_ storage: StorageThread) {
        for _ in 0..<8 {
            storage.hurry()
            let done = WakeUpFlag()
            storage.perform { done.set() }
            done.wait()
        }
    }
}

// @unchecked: `condition` guards the mutable state.
private final class WakeUpFlag: @unchecked Sendable {
    private let condition = Condition()
    private var isSet = false

    func set() { condition.update { isSet = true } }
    func wait() { condition.wait { isSet } }
}
