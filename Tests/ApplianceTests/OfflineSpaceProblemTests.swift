import ApplianceTestSupport
import Crypto
import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Appliance
@testable import Offline
@testable import Playback
@testable import Player

@Suite("The problem of too little room for offline copies (docs/control.md)")
struct OfflineSpaceProblemTests {
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
    }

    /// - Parameters:
    ///   - megabytes: the budget; nil: none.
    ///   - left: the megabytes of room on the medium, besides the reserve that has to stay free.
    private func offlining(_ storage: StorageThread, megabytes: Int64?, left: Int64? = nil) throws -> Offlining {
        let time = ManualTime()
        time.seconds = 1_000_000
        var settings = OfflineSettings(folder: folder["offline"])
        settings.limits.freeBytes = try left.map { try Folder.freeBytes(at: folder.path) - $0 << 20 } ?? 0
        settings.limits.bytes = megabytes.map { $0 << 20 }
        let service = OfflineService(
            network: OfflineTestService(), settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: "t"))
        return try Offlining(
            settings, service, evictCache: nil, storage: storage, clock: TrustedClock(store: nil, source: time),
            keyFolder: folder.path)
    }

    private static func problem(_ status: DaemonStatus) -> String? {
        status.problems.first { $0.subject == DaemonProblem.offline }?.message
    }

    /// Starts the daemon, as later starts without this do again.
    private func start(megabytes: Int64?, left: Int64? = nil) throws -> OfflineStore {
        let store = Locked<OfflineStore?>(nil)
        fixture.makeOfflining = { storage in
            let made = try offlining(storage, megabytes: megabytes, left: left)
            store.set(made.store)
            return made
        }
        try fixture.start()
        return try #require(store.value)
    }

    /// Returns when the daemon has all messages of the engine: an answer of the engine comes after them.
    private func waitForStatus() throws {
        let engine = try #require(fixture.player.offlineEngine)
        let done = DispatchSemaphore(value: 0)
        engine.status { _ in done.signal() }
        done.waitOrEndRun("the offline engine")
        fixture.settle()
    }

    /// A product of so many bytes that are all zero.
    private func keep(megabytes: Int64, in store: OfflineStore) throws {
        // At its start, the engine checks to which database the folder belongs.
        fixture.wait("the folder's id") { _ in
            FileKind(at: "\(store.folder.path)/\(StorageFolder.idFileName)") == .file
        }
        let product = ServiceAddress(.track, "7")
        let item = OfflineItem(
            product: product, referenceId: "r7",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high),
            received: .init(product: product, assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: [UInt8](repeating: 7, count: 16), sealedKey: [1], count: megabytes << 20,
            validity: OfflineValidity())
        let path = store.path(of: item.content)
        try FileManager.default.createDirectory(
            atPath: Folder.containing(path), withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let handle = try #require(FileHandle(forWritingAtPath: path))
        let size = try #require(SealedLayout.sealedCount(of: item.count))
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        try store.waitToWrite { (rows) throws(DatabaseError) in _ = try rows.keep(item, now: 1_000_000) }
    }

    @Test("From 90 percent of the budget on it is told, also at the start", arguments: [(89, false), (90, true)])
    func nearlyFull(megabytes: Int64, isReported: Bool) throws {
        let store = try start(megabytes: 100)
        try keep(megabytes: megabytes, in: store)
        fixture.end()
        // Nothing is downloaded or removed in this start.
        try fixture.start()
        if isReported {
            fixture.wait("the warning") {
                Self.problem($0) == "offline copies take 90 of 100 MiB ([offline] size)"
            }
        } else {
            try waitForStatus()
            #expect(Self.problem(fixture.status) == nil)
        }
        fixture.end()
    }

    @Test(
        "Without a budget the warning is about the room of the medium, and only when there are offline copies",
        arguments: [(1000, 50, true), (1000, 500, false), (0, 0, false)] as [(Int64, Int64, Bool)])
    func mediumNearlyFull(megabytes: Int64, left: Int64, isReported: Bool) throws {
        let store = try start(megabytes: nil, left: left)
        if megabytes > 0 { try keep(megabytes: megabytes, in: store) }
        fixture.end()
        try fixture.start()
        try waitForStatus()
        let problem = Self.problem(fixture.status)
        #expect(
            (problem?.hasPrefix("offline copies take 1000 MiB, and their medium has room for") ?? false) == isReported)
        #expect((problem == nil) == !isReported)
        fixture.end()
    }

    @Test("That the medium of the offline copies is missing is a problem, until it is there at a start")
    func mediumMissing() throws {
        let store = try start(megabytes: 100)
        try keep(megabytes: 1, in: store)
        fixture.end()
        try FileManager.default.moveItem(atPath: folder["offline"], toPath: folder["medium"])
        try fixture.start()
        fixture.wait("the problem") { Self.problem($0)?.hasPrefix("\(folder["offline"]) has none") ?? false }
        fixture.end()
        try FileManager.default.removeItem(atPath: folder["offline"])
        try FileManager.default.moveItem(atPath: folder["medium"], toPath: folder["offline"])
        try fixture.start()
        try waitForStatus()
        #expect(Self.problem(fixture.status) == nil)
        fixture.end()
    }

    @Test("That downloads wait for room is told as long as it lasts")
    func waits() throws {
        let store = try start(megabytes: 1)
        try keep(megabytes: 1, in: store)
        fixture.player.linkChanged(to: Link(.ethernet))
        let product = MediaProduct(productType: .track, productId: "tonearm:track/8", referenceId: "r8")
        let engine = try #require(fixture.player.offlineEngine)
        #expect(engine.offline(product))
        fixture.wait("the wait") {
            Self.problem($0) == "there is no room for more offline copies: remove some, or allow more ([offline] size)"
        }
        #expect(engine.deleteOffline(product))
        fixture.wait("the end of the wait") {
            Self.problem($0) == "offline copies take 1 of 1 MiB ([offline] size)"
        }
        fixture.end()
    }

    @Test("Nobody is told to remove what does not exist")
    func advice() {
        func problem(copies: Int, budget: Int64?, most: Int64) -> String? {
            var status = OfflineEngine.Status(
                copyCount: copies, downloadCount: 1, usedBytes: 0, budget: budget, isNearlyFull: false, wait: .space)
            status.mostBytes = most
            return status.problem
        }
        let medium = "make room on their medium ([offline] free-space)"
        #expect(problem(copies: 0, budget: nil, most: 5) == "there is no room for offline copies: \(medium)")
        #expect(problem(copies: 0, budget: 9, most: 5) == "there is no room for offline copies: \(medium)")
        #expect(
            problem(copies: 0, budget: 5, most: 5) == "there is no room for offline copies: allow more ([offline] size)"
        )
        #expect(
            problem(copies: 2, budget: 9, most: 5)
                == "there is no room for more offline copies: remove some, or \(medium)")
    }
}
