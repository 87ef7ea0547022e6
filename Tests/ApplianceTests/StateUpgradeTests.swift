import ApplianceTestSupport
import Database
import Foundation
import PCM
import TestSupport
import Testing

@testable import Appliance
@testable import Player
@testable import Queue

/// A state folder that a daemon of version 0.1 left when it was killed: everything is in the logs of its two databases.
struct FormerState {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Support/Fixtures/StateFolder0.1").path

    static func copy(to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: folder, toPath: path)
    }

    /// The contents of the state, read by the code that wrote it.
    static func verify(_ state: borrowing ApplianceState, _ comment: Comment? = nil) throws {
        let queue = state.contents.queue
        let names = queue.originalOrder.map { String(queue.product($0)!.productId.suffix(6)) }
        #expect(names == ["c.flac", "a.flac", "b.flac", "c.flac"], comment)
        #expect(queue.playOrder.map(\.number) == [2, 3, 1, 4], comment)
        #expect(queue.isShuffled && queue.repeatMode == .all && queue.current == EntryID(1), comment)
        #expect(queue.history.count == 34 && queue.nextNumber == 5, comment)
        #expect(state.contents.position == 0 && !state.contents.isPlaying, comment)
        #expect(state.settings == [.maximumVolume: "60 %", .preAmp: "2 dB"], comment)
        let volume = try state.storage.read { (database) throws(DatabaseError) in
            try KeyValueStore(database).integer("playback.volume")
        }
        #expect(volume == 37, comment)
    }
}

@Suite("The state of version 0.1")
struct StateUpgradeTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["state"]
        try FormerState.copy(to: path)
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
    }

    @Test("is taken over into one file, without loss, and the other file goes")
    func upgrade() throws {
        for _ in 0..<2 {
            let state = try ApplianceState(path)
            try FormerState.verify(state)
            #expect(state.problems == [])
            endRunUnlessInTime("the end of a thread") { state.storage.join() }
            state.storage.leave()
            #expect(names == ["lock", "tonearm.db"])
        }
    }

    @Test("a power cut anywhere during the upgrade loses nothing")
    func cuts() throws {
        var cuts = 0
        while true {
            try FormerState.copy(to: path)
            let run = try WriterProcess.run("state", "open", path, "\(cuts)")
            let state = try ApplianceState(path)
            try FormerState.verify(state, "cut before file call \(cuts)")
            #expect(state.problems == [], "cut before file call \(cuts)")
            #expect(!names.contains { $0.hasPrefix("appliance.db") }, "cut before file call \(cuts)")
            if run.code != 99 {
                #expect(run.code == 0 && run.errors.isEmpty)
                break
            }
            cuts += WriterProcess.cutStride
        }
        // The calls are intercepted, also those of SQLite.
        #expect(cuts > 15)
    }

    @Test("a wrong bit in its queue's log is found, repaired and reported; the file is kept")
    func damaged() throws {
        let log = URL(fileURLWithPath: path + "/appliance.db-wal")
        var bytes = try Data(contentsOf: log)
        bytes[bytes.count / 3] ^= 4
        try bytes.write(to: log)
        let state = try ApplianceState(path)
        try FormerState.verify(state)
        #expect(state.problems.map(\.subject) == ["damage"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "/appliance.db.damaged-1-wal")) == bytes)
    }

    @Test("an appliance.db that comes after the upgrade, of an older version, is not taken")
    func stale() throws {
        do { _ = try ApplianceState(path) }
        try Database(path: path + "/appliance.db").execute("CREATE TABLE queue_entry (id)")
        try FormerState.verify(try ApplianceState(path))
        #expect(!names.contains { $0.hasPrefix("appliance.db") })
    }
}

@Suite("A damaged state")
struct StateDamageTests {
    let folder: ScratchFolder
    let path: String

    init() throws {
        folder = try ScratchFolder()
        path = folder["state"]
        try FormerState.copy(to: path)
        let state = try ApplianceState(path)
        endRunUnlessInTime("the end of a thread") { state.storage.join() }
        state.storage.leave()
    }

    @Test("a power cut anywhere during the recovery loses nothing, and the damaged file is kept")
    func cuts() throws {
        let file = URL(fileURLWithPath: path + "/tonearm.db")
        var damaged = try Data(contentsOf: file)
        // The list of free pages leads out of the file.
        damaged.replaceSubrange(32..<40, with: [0, 0, 0xFF, 0xFF, 0, 0, 0, 1])
        let sound = path + ".sound"
        try FileManager.default.moveItem(atPath: path, toPath: sound)
        var cuts = 0
        while true {
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: sound, toPath: path)
            try damaged.write(to: file)
            let run = try WriterProcess.run("state", "open", path, "\(cuts)")
            try FormerState.verify(try ApplianceState(path), "cut before file call \(cuts)")
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(
                names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
                    == ["lock", "tonearm.db", "tonearm.db.damaged-1"], "cut before file call \(cuts)")
            if run.code != 99 { break }
            cuts += WriterProcess.cutStride
        }
        #expect(cuts > 20)
    }

    @Test("a maximum volume that a client has set and that is lost stays in force")
    func maximumVolume() throws {
        try Database(path: path + "/tonearm.db").execute("DROP TABLE setting")
        let fixture = DaemonFixture(folder: path)
        for _ in 0..<2 {
            try fixture.start()
            #expect(fixture.status.maximumVolumePercent == 60)
            fixture.end()
        }
        try fixture.start()
        _ = fixture.perform { $0.settings.unset(.maximumVolume) }
        fixture.end()
        try fixture.start()
        #expect(fixture.status.maximumVolumePercent == 100)
        fixture.end()
    }

    @Test("settings that are lost, and a first start: −30 dB, and never 0 dB unasked", arguments: [true, false])
    func volume(exists: Bool) throws {
        if exists {
            try Database(path: path + "/tonearm.db").execute("DELETE FROM configuration")
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        let fixture = DaemonFixture(folder: path)
        fixture.firstVolume = .first
        try fixture.start()
        #expect(fixture.status.volumePercent == Volume.first.percent)
        fixture.end()
    }
}
