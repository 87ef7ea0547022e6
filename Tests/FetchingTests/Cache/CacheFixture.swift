import Crypto
import Database
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

/// A time that a test sets.
// @unchecked: used on the test's thread alone.
final class SetTime: CertificateClock, @unchecked Sendable {
    var time = CertificateTime(1_800_000_000, isProved: true)
    func now() -> CertificateTime { time }
    func serverProves(_ seconds: Int64) {}
    func serverReports(_ seconds: Int64) {}
}

/// A store with a real database and real files.
final class CacheFixture {
    static let key = Array(UInt8(0)..<32)

    let folder: ScratchFolder
    let clock = SetTime()
    private(set) var storage: StorageThread
    private(set) var index: DatabaseCacheIndex
    private(set) var store: CacheStore

    init(limit: Int64 = 64 << 20, freeBytes: Int64 = 0) throws {
        folder = try ScratchFolder()
        (storage, index, store) = try Self.open(folder, limit, freeBytes, clock)
        store.start()
        settle()
    }

    deinit { index.close() }

    private static func open(
        _ folder: ScratchFolder, _ limit: Int64, _ freeBytes: Int64, _ clock: SetTime
    ) throws -> (StorageThread, DatabaseCacheIndex, CacheStore) {
        let storage = try StorageThread(folder["state.db"], modules: [DatabaseCacheIndex.schema])
        let index = DatabaseCacheIndex(storage)
        var limits = CacheLimits(bytes: limit)
        limits.freeBytes = freeBytes
        let store = CacheStore(folder["bodies"], index, limits: limits, key: SecretBytes(copying: key)) {
            clock.now().seconds
        }
        return (storage, index, store)
    }

    /// Reopens the store as the next start of the program does.
    func reopen(limit: Int64 = 64 << 20) throws {
        settle()
        index.close()
        (storage, index, store) = try Self.open(folder, limit, 0, clock)
        store.start()
        settle()
    }

    /// Waits until all that was begun on the storage thread is done, writes that wait for their budget included.
    func settle() {
        // A recording that ends takes four steps.
        for _ in 0..<8 {
            storage.hurry()
            let condition = Condition()
            let isDone = Locked(false)
            storage.perform { condition.update { isDone.set(true) } }
            condition.waitOrEndRun("the storage thread") { isDone.value }
        }
    }

    func stored(_ request: TransferRequest) -> CachedResponse? {
        let condition = Condition()
        let answer = Locked<CachedResponse??>(nil)
        guard let key = CacheKey(of: request) else { return nil }
        store.find(key) { response in condition.update { answer.set(.some(response)) } }
        condition.waitOrEndRun("the storage thread") { answer.value != nil }
        return answer.value ?? nil
    }

    /// The names of the files of bodies.
    var files: [String] {
        ((try? Folder.entries(of: folder["bodies"])) ?? []).map(\.name)
    }

    /// The path of the one file of a body.
    func onlyFile() throws -> String {
        let files = files
        guard files.count == 1 else { throw Unexpected("not one file of a body: \(files)") }
        return folder["bodies/\(files[0])"]
    }
}

/// A network whose answers the test gives, and whose thread is the test's: actions that other threads schedule run
/// inside `run`.
// @unchecked: `condition` guards `actions`; the rest belongs to the test's thread.
final class PumpedNetwork: ServiceNetwork, @unchecked Sendable {
    private let condition = Condition()
    private var actions: [@Sendable () -> Void] = []
    private var delayed: [@Sendable () -> Void] = []
    private(set) var transfers: [ScriptedNetwork.Ongoing] = []

    var last: ScriptedNetwork.Ongoing { transfers[transfers.count - 1] }

    func begin(_ request: TransferRequest, into sink: any TransferSink) -> any OngoingTransfer {
        let transfer = ScriptedNetwork.Ongoing(request, sink)
        transfers.append(transfer)
        return transfer
    }

    /// Lets all delays pass that were asked for up to now.
    func passDelays() {
        let due = delayed
        delayed = []
        for action in due { action() }
    }

    func schedule(after nanoseconds: Int64, _ action: @escaping @Sendable () -> Void) {
        if nanoseconds > 0 { return delayed.append(action) }
        condition.update { actions.append(action) }
    }

    func waitForLink(atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void) {}

    /// Runs scheduled actions until `isDone`.
    func run(until isDone: () -> Bool) {
        while !isDone() {
            guard expectSoon("the storage thread", { condition.update { !actions.isEmpty } }) else { return }
            let action = condition.update { actions.removeFirst() }
            action()
        }
    }

    /// Runs the actions that are scheduled now.
    func runScheduled() {
        let due = condition.update { () -> [@Sendable () -> Void] in
            defer { actions = [] }
            return actions
        }
        for action in due { action() }
    }
}

/// Records the bytes that a transfer delivers.
// @unchecked: used on the test's thread alone.
final class CollectingSink: TransferSink, @unchecked Sendable {
    var head: ResponseHead?
    var bytes: [UInt8] = []
    /// How many bytes it takes.
    var room = Int.max
    var refusals = 0
    var ends: [TransferError?] = []

    func began(_ head: ResponseHead) { self.head = head }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        guard self.bytes.count + bytes.count <= room else {
            refusals += 1
            return .enough
        }
        self.bytes.append(contentsOf: bytes)
        return .more
    }

    func ended(_ error: TransferError?) { ends.append(error) }
}
