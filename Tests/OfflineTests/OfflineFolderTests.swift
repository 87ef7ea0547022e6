import Crypto
import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("The storage folder belongs to one database (docs/playback.md, 16.11)", .serialized)
struct OfflineFolderTests {
    private let folder: ScratchFolder
    private let track: Track
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        for id in ["7", "8"] { service.serve(try track.file, as: id) }
    }

    /// Downloads the product, and returns the state that a restart finds.
    private func withCopies() throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        return offline.folder
    }

    private func move(_ old: String, _ new: String) throws {
        try FileManager.default.moveItem(atPath: old, toPath: new)
    }

    private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: path) }

    private func change(_ state: ScratchFolder, _ statements: String...) throws {
        let database = try Database(path: state["tonearm.db"])
        for statement in statements { try database.execute(statement) }
    }

    /// The product is there with its one file, and no message was sent.
    private func expectCopy(_ offline: OfflineFixture) {
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.entries().map { $0.status } == [.complete])
        #expect(offline.files.count == 1)
        #expect(offline.log.lines == [])
    }

    // MARK: Another database

    @Test("A new database in the place of one that could not be read removes nothing; with the old one all is well")
    func newDatabase() throws {
        let state = try withCopies()
        try move(state["tonearm.db"], state["tonearm.db.unread-1"])
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.spin("the problem") { offline.folderProblem() != nil }
            #expect(offline.folderProblem()?.contains("another database") == true)
            // No file is added to the folder.
            #expect(offline.engine.offline(OfflineFixture.product(8)))
            #expect(offline.status(of: 8) == .waiting(.medium))
            // This does not remove the copies of another database either.
            #expect(offline.engine.deleteAllOfflines())
            try offline.wait(for: "all deleted")
            #expect(offline.files.count == 1)
        }
        // A second start has the same result as the first.
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.spin("the problem") { offline.folderProblem() != nil }
            #expect(offline.files.count == 1)
        }
        try remove(state["tonearm.db"])
        try move(state["tonearm.db.unread-1"], state["tonearm.db"])
        let offline = try OfflineFixture(in: state, service, link: nil)
        #expect(offline.folderProblem() == nil)
        expectCopy(offline)
        #expect(try offline.played(track.frames) == track.samples)
        #expect(service.contentRequests.count == 1)
    }

    @Test("The folder of another appliance stays as it is, and what this one has is not lost")
    func otherFolder() throws {
        let (state, other) = (try withCopies(), try withCopies())
        try move(state["offline"], state["own"])
        try move(other["offline"], state["offline"])
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.spin("the problem") { offline.folderProblem() != nil }
            #expect(offline.verify(7) != .damaged)
            expectCopy(offline)
        }
        try move(state["offline"], other["offline"])
        try move(state["own"], state["offline"])
        for state in [state, other] {
            let offline = try OfflineFixture(in: state, service)
            #expect(offline.folderProblem() == nil)
            expectCopy(offline)
        }
        #expect(service.contentRequests.count == 2)
    }

    // MARK: A medium that is missing

    @Test("A medium that is mounted after the start loses nothing, and nothing is downloaded to the file system below")
    func missingMedium() throws {
        let state = try withCopies()
        try move(state["offline"], state["medium"])
        let offline = try DrivenOffline(in: state, service, now: 1_000_000)
        #expect(offline.engine.folderProblem()?.contains("mount its medium") == true)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        #expect(offline.status(of: 8) == .waiting(.medium))
        guard case .unreadable = offline.engine.verification(of: 7) else { return #expect(Bool(false)) }
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.log.lines == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: state["offline"]) == [])
        try remove(state["offline"])
        try move(state["medium"], state["offline"])
        offline.advance(by: 60_000_000_000)
        try offline.log.wait(for: "done r8")
        #expect(offline.engine.folderProblem() == nil)
        #expect(offline.log.events == ["started r8", "done r8"])
        #expect(offline.entries().map { $0.status } == [.complete, .complete])
        #expect(service.contentRequests.count == 2)
    }

    @Test("A medium that is pulled takes no product with it, and the one that plays goes on from the service")
    func pulled() throws {
        let state = try withCopies()
        let offline = try OfflineFixture(in: state, service)
        #expect(offline.folderProblem() == nil)
        try move(state["offline"], state["medium"])
        #expect(try offline.played(track.frames) == track.samples)
        try offline.spin("the problem") { offline.folderProblem() != nil }
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        #expect(offline.status(of: 8) == .waiting(.medium))
        #expect(!FileManager.default.fileExists(atPath: state["offline"]))
        try move(state["medium"], state["offline"])
        // An action that frees room checks the medium again.
        #expect(offline.engine.deleteOffline(OfflineFixture.product(8)))
        try offline.spin("the medium") { offline.folderProblem() == nil }
        #expect(offline.log.events == ["deleted r8"])
        #expect(offline.entries().map { $0.status } == [.complete])
    }

    @Test("A download that begins when the medium is gone waits for it")
    func pulledBeforeDownload() throws {
        let state = try withCopies()
        let offline = try DrivenOffline(in: state, service, now: 1_000_000)
        try move(state["offline"], state["medium"])
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.medium) }
        try offline.spin("the problem") { offline.engine.folderProblem() != nil }
        #expect(!FileManager.default.fileExists(atPath: state["offline"]))
        try move(state["medium"], state["offline"])
        offline.advance(by: 60_000_000_000)
        try offline.log.wait(for: "done r8")
        #expect(!offline.log.events.contains { $0.hasPrefix("failed") })
    }

    @Test("When the medium is lost, an empty file for the id has everything downloaded again")
    func lostMedium() throws {
        let state = try withCopies()
        try remove(state["offline"])
        let offline = try DrivenOffline(in: state, service, now: 1_000_000)
        #expect(offline.engine.folderProblem()?.contains(state["offline/tonearm-id"]) == true)
        #expect(FileManager.default.createFile(atPath: state["offline/tonearm-id"], contents: nil))
        offline.advance(by: 60_000_000_000)
        try offline.log.wait(for: "done r7")
        #expect(offline.log.events == ["failed m7 r7", "started r7", "done r7"])
        #expect(offline.engine.folderProblem() == nil)
    }

    @Test("Without products any empty folder will do: also when all were removed because their medium is lost")
    func noCopies() throws {
        let state = try withCopies()
        try remove(state["offline"])
        let offline = try OfflineFixture(in: state, service)
        try offline.spin("the problem") { offline.folderProblem() != nil }
        #expect(offline.engine.deleteAllOfflines())
        try offline.spin("the new folder") { offline.folderProblem() == nil }
        try offline.keep(8)
    }

    // MARK: The id

    @Test("Copies of an earlier version get an id, and unknown files are removed as before")
    func upgrade() throws {
        let state = try withCopies()
        try remove(state["offline/tonearm-id"])
        try change(
            state, "DROP TABLE offline_folder", "DROP TABLE offline_failure", "DROP INDEX offline_item_damaged",
            "ALTER TABLE offline_job DROP COLUMN is_repair",
            "UPDATE schema_module SET number = 1 WHERE module = 'offline'")
        try FileManager.default.createDirectory(atPath: state["offline/00"], withIntermediateDirectories: true)
        let stray = state["offline/00/00112233445566778899aabbccddeeff"]
        #expect(FileManager.default.createFile(atPath: stray, contents: Data("x".utf8)))
        let offline = try OfflineFixture(in: state, service)
        try offline.spin("the removal") { !FileManager.default.fileExists(atPath: stray) }
        #expect(FileManager.default.fileExists(atPath: state["offline/tonearm-id"]))
        #expect(offline.folderProblem() == nil)
        expectCopy(offline)
    }

    /// The database whose id the folder has.
    enum Mark { case none, empty, own, other }

    /// The files of the folder: a file of the rows, also one that is too short; others; or more others than own ones.
    enum Files { case none, own, torn, others, mostlyOthers }

    enum Outcome { case ours, missing, foreign }

    @Test(
        "Whose folder it is",
        arguments: [
            // The first start, and a power cut between the two writes of it.
            (false, .none, .none, false, .ours), (false, .other, .none, false, .ours),
            (false, .empty, .none, false, .ours),
            // An earlier version, and the same power cut.
            (false, .none, .own, true, .ours), (false, .other, .own, true, .ours),
            // The medium of an earlier version is missing.
            (false, .none, .none, true, .missing), (false, .other, .none, true, .foreign),
            // The database is a new one.
            (false, .none, .others, false, .foreign), (false, .other, .others, false, .foreign),
            (false, .none, .others, true, .foreign), (false, .other, .others, true, .foreign),
            // The right id, with any files.
            (true, .own, .none, false, .ours), (true, .own, .none, true, .ours), (true, .own, .own, true, .ours),
            (true, .own, .others, true, .ours), (true, .own, .others, false, .ours),
            // The id was removed.
            (true, .none, .own, true, .ours), (true, .empty, .own, true, .ours),
            // The medium is missing; the user has declared it lost; or no file was on it.
            (true, .none, .none, true, .missing), (true, .empty, .none, true, .ours),
            (true, .none, .none, false, .ours),
            // The folder of another database.
            (true, .other, .none, true, .foreign), (true, .other, .torn, true, .foreign),
            (true, .other, .mostlyOthers, true, .foreign),
            // The id is damaged: the files prove to which database they belong.
            (true, .other, .own, true, .ours),
            (true, .other, .others, true, .foreign), (true, .other, .others, false, .foreign),
            (true, .none, .others, true, .foreign), (true, .empty, .others, true, .foreign),
            (true, .none, .others, false, .foreign), (true, .other, .none, false, .ours),
        ] as [(Bool, Mark, Files, Bool, Outcome)])
    func claims(hasID: Bool, _ mark: Mark, _ files: Files, hasRows: Bool, _ outcome: Outcome) throws {
        let state = try ScratchFolder()
        let kept = StorageFolder(path: state.path)
        let database = try Database.inMemory()
        try database.migrate([Offlining.schema])
        let rows = OfflineRows(database)
        if hasID { try rows.setFolderID("0123") }
        let content = [UInt8](repeating: 7, count: 16)
        if hasRows { _ = try rows.keep(item(content), now: 1_000_000) }
        let text: String? =
            switch mark {
            case .none: nil
            case .empty: ""
            case .own: "0123\n"
            case .other: "4567\n"
            }
        let path = state[StorageFolder.idFileName]
        if let text { #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8))) }
        func create(_ content: [UInt8], _ count: Int64) throws {
            let name = kept.path(of: content)
            try FileManager.default.createDirectory(
                atPath: Folder.containing(name), withIntermediateDirectories: true)
            #expect(FileManager.default.createFile(atPath: name, contents: Data(count: Int(count))))
        }
        let whole = try #require(SealedLayout.sealedCount(of: 1))
        switch files {
        case .none: break
        case .own: try create(content, whole)
        case .torn: try create(content, whole - 1)
        case .others: try create([UInt8](repeating: 8, count: 16), whole)
        case .mostlyOthers:
            try create(content, whole)
            for byte in [7, 8] as [UInt8] { try create([byte] + [UInt8](repeating: 9, count: 15), whole) }
        }
        let claim = try kept.claim(rows)
        switch outcome {
        case .ours: #expect(claim == .ours)
        case .missing, .foreign:
            guard case .refused(let problem) = claim else { return #expect(Bool(false), "\(claim)") }
            #expect(problem.contains(outcome == .missing ? "mount its medium" : "another database"))
            // No advice destroys anything.
            #expect(!problem.contains("empty this") && !problem.contains("remove"))
            // Nothing was written.
            #expect(try rows.folderID() == (hasID ? "0123" : nil))
            #expect((try? String(contentsOfFile: path, encoding: .utf8)) == text)
        }
        #expect(try kept.isOurs(rows) == (outcome == .ours))
        if outcome == .ours, mark == .other, hasID, hasRows {
            #expect(try rows.folderID() == "0123")
            #expect((try? String(contentsOfFile: path, encoding: .utf8)) == "0123\n")
        }
        // Another check has the same result.
        #expect(try kept.claim(rows) == claim)
    }

    @Test("One wrong bit in the id stops nothing, at the start and while it runs: the files prove whose folder it is")
    func damagedID() throws {
        let state = try withCopies()
        let id = try String(contentsOfFile: state["offline/tonearm-id"], encoding: .utf8)
        try flipBit(ofFile: state["offline/tonearm-id"]) { _ in 3 }
        let offline = try OfflineFixture(in: state, service)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.wait(for: "done r8")
        #expect(try String(contentsOfFile: state["offline/tonearm-id"], encoding: .utf8) == id)
        try flipBit(ofFile: state["offline/tonearm-id"]) { _ in 5 }
        #expect(offline.engine.deleteOffline(OfflineFixture.product(8)))
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the second copy") { offline.entries().map { $0.status } == [.complete, .complete] }
        #expect(try String(contentsOfFile: state["offline/tonearm-id"], encoding: .utf8) == id)
        #expect(offline.folderProblem() == nil)
        #expect(!offline.log.events.contains { $0.hasPrefix("failed") })
        #expect(offline.files.count == 2)
    }

    @Test("A folder that gets new owners has another id than before: the former one may be mounted there later")
    func newID() throws {
        let state = try ScratchFolder()
        let kept = StorageFolder(path: state.path)
        let database = try Database.inMemory()
        try database.migrate([Offlining.schema])
        let rows = OfflineRows(database)
        try rows.setFolderID("0123")
        #expect(try kept.claim(rows) == .ours)
        let id = try #require(try rows.folderID())
        #expect(id != "0123" && id.count == 32)
        #expect(try String(contentsOfFile: state[StorageFolder.idFileName], encoding: .utf8) == "\(id)\n")
    }

    @Test("An id that cannot be read, or that has no room, decides nothing")
    func unusable() throws {
        let state = try ScratchFolder()
        let kept = StorageFolder(path: state["missing"])
        let database = try Database.inMemory()
        try database.migrate([Offlining.schema])
        let rows = OfflineRows(database)
        guard case .refused = try kept.claim(rows) else { return #expect(Bool(false)) }
        #expect(try rows.folderID() == nil)
        // A folder of that name: EISDIR.
        try FileManager.default.createDirectory(
            atPath: state["missing/tonearm-id"], withIntermediateDirectories: true)
        try rows.setFolderID("0123")
        guard case .refused(let problem) = try kept.claim(rows) else { return #expect(Bool(false)) }
        #expect(problem.contains(state["missing/tonearm-id"]))
        #expect(try !kept.isOurs(rows))
    }

    private func item(_ content: [UInt8]) -> OfflineItem {
        let product = ServiceAddress(.track, "7")
        return OfflineItem(
            product: product, referenceId: "r7",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high),
            received: .init(product: product, assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: content, sealedKey: [1], count: 1, validity: OfflineValidity())
    }
}
