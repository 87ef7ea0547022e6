import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Offline
@testable import Playback
@testable import Player

/// The state on a medium of its own, separate from that of the storage folder.
@Suite("The state cannot be written (docs/playback.md, 16.8)", .serialized, .enabled(if: Medium.isAvailable))
struct OfflineStateRoomTests {
    private static let minute: Int64 = 60_000_000_000
    private let folder: ScratchFolder
    private let state: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        state = try ScratchFolder()
        file = try Track("a", frames: 400_000, in: folder).file
        for id in ["7", "8"] { service.serve(file, as: id) }
    }

    private func start(link: Link.Kind = .ethernet) throws -> DrivenOffline {
        let place = folder["offline"]
        return try DrivenOffline(in: state, service, now: 1_000_000, link: link) {
            $0.folder = place
            $0.recordInterval = 65_536
        }
    }

    @Test("Without room for the state a download waits for it, before it asks anybody")
    func full() throws {
        let medium = try Medium(at: state.path, kilobytes: 8 << 10)
        let offline = try start(link: .offline)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        medium.fill()
        offline.onControl { $0.linkChanged(to: Link(.ethernet)) }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.storage) }
        for _ in 1...3 {
            offline.advance(by: Self.minute)
            offline.answerReads()
        }
        #expect(offline.wait() == .storage && offline.status(of: 7) == .waiting(.storage))
        #expect(service.infoRequests == 0 && offline.log.lines.filter { $0.hasPrefix("failed") } == [])
        medium.empty()
        try offline.spin("the end") {
            offline.advance(by: Self.minute)
            return offline.log.events.last == "done r7"
        }
        #expect(offline.wait() == nil && service.infoRequests == 1)
    }

    @Test("A medium of the state that fills up meanwhile is no failure of the download, and nothing is fetched again")
    func fills() throws {
        let medium = try Medium(at: state.path, kilobytes: 8 << 10)
        let offline = try start()
        service.hang(after: file.count * 3 / 10)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        try offline.log.wait(for: "29 r7")
        let requests = service.contentRequests.count
        // From now on, writes have no room.
        try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute(
                "CREATE TRIGGER fills BEFORE UPDATE ON offline_job BEGIN INSERT INTO offline_folder "
                    + "VALUES (NULL, hex(zeroblob(4000000))); END")
        }
        medium.fill()
        service.release()
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.storage) }
        for _ in 1...3 {
            offline.advance(by: Self.minute)
            offline.answerReads()
        }
        #expect(offline.wait() == .storage)
        #expect(service.contentRequests.count == requests)
        #expect(offline.log.events == ["started r7"])
        medium.empty()
        // A record that was being written may take the new room once more.
        try waitUntil("room for other writes") {
            do throws(DatabaseError) {
                try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
                    try rows.database.execute("DROP TRIGGER fills")
                }
                return true
            } catch {
                if error.kind == .full { return false }
                throw error
            }
        }
        try offline.spin("the end") {
            offline.advance(by: Self.minute)
            return offline.log.events.last == "done r7"
        }
        #expect(offline.log.events == ["started r7", "done r7"])
    }

    @Test("A full state that cannot take a new folder is a wait for the state, and not for the folder's medium")
    func newFolder() throws {
        let medium = try Medium(at: state.path, kilobytes: 8 << 10)
        do {
            let offline = try start(link: .offline)
            #expect(offline.engine.offline(OfflineFixture.product(7)))
        }
        medium.fill()
        let place = folder["another"]
        let offline = try DrivenOffline(in: state, service, now: 1_000_000) { $0.folder = place }
        try offline.spin("the wait") { offline.wait() == .storage }
        #expect(offline.status(of: 7) == .waiting(.storage) && service.infoRequests == 0)
        medium.empty()
        try offline.spin("the end") {
            offline.advance(by: Self.minute)
            return offline.log.events.last == "done r7"
        }
    }

    @Test("A medium of the state that is read-only or full is told with its own way out")
    func advice() throws {
        let medium = try Medium(at: state.path, kilobytes: 64)
        medium.fill()
        func message() throws -> String {
            let storage = try StorageThread(nil, modules: [])
            let content = OfflineService(
                network: service, settings: ServiceSettings(baseURL: "https://service"),
                credentials: StaticCredentials(token: nil))
            var text = ""
            do throws(PlayerError) {
                _ = try Offlining(
                    OfflineSettings(folder: folder["offline"]), content, evictCache: nil, storage: storage,
                    clock: TrustedClock(store: nil, source: ManualTime()), keyFolder: state.path)
            } catch {
                text = error.message
            }
            return text
        }
        #expect(try message().contains("Make room on its medium"))
        try medium.setReadOnly(true)
        #expect(try message().contains("Make its medium writable"))
    }

    @Test("A state that cannot say whose folder it is keeps downloads waiting for the state, not for the medium")
    func unknownFolder() {
        var gate = OfflineGate(link: .ethernet)
        gate.isFolderOurs = false
        #expect(gate.wait == .medium)
        gate.isFolderUnknown = true
        #expect(gate.wait == .storage)
    }
}
