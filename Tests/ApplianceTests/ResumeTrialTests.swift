import ApplianceTestSupport
import Database
import Foundation
import OutputTestSupport
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("An entry that ends the process")
struct ResumeTrialTests {
    private let a = EntryID(7)
    private let b = EntryID(8)

    @Test("Two deaths in a row with one entry are enough")
    func decisions() {
        func decide(_ kept: ResumeTrial?) -> ResumeTrial.Decision { ResumeTrial.decide(a, after: kept) }
        #expect(decide(nil) == .open(ResumeTrial(entry: a, deaths: 1)))
        #expect(decide(.survived) == .open(ResumeTrial(entry: a, deaths: 2)), "it was current when the process died")
        #expect(decide(ResumeTrial(entry: a, deaths: 1)) == .open(ResumeTrial(entry: a, deaths: 2)))
        #expect(decide(ResumeTrial(entry: a, deaths: 2)) == .passOver)
        #expect(decide(ResumeTrial(entry: b, deaths: 2)) == .open(ResumeTrial(entry: a, deaths: 2)))
    }

    @Test(
        "The file holds it; anything else in the file is no trial",
        arguments: [
            "", "7", "7 2 1", "x 2", "7 -1", "7 3", "4294967296 1", "7 9999999999999999999999", "7\0 2",
        ])
    func text(other: String) {
        for trial in [ResumeTrial(entry: a, deaths: 2), .survived] {
            #expect(ResumeTrial(Array(trial.text.utf8)) == trial)
        }
        #expect(ResumeTrial(Array(other.utf8)) == nil)
    }

    @Test("A start that a power cut ended says nothing about its entry")
    func powerCuts() throws {
        let folder = try ScratchFolder()
        let loop = try EventLoop()
        let storage = try StorageThread(nil, modules: [])
        func mayOpen(in boot: String) -> Bool {
            ResumeGuard(folder: folder[""], storage: storage, loop: loop, boot: Array(boot.utf8)).mayOpen(a)
        }
        #expect(["1", "2", "3", "4"].map(mayOpen) == [true, true, true, true])
        #expect(["4", "4"].map(mayOpen) == [true, false])
    }

    @Test("A state folder that cannot be written: the runtime folder has the file, and hides an older one")
    func unusableFolder() throws {
        let (folder, runtime) = (try ScratchFolder(), try ScratchFolder())
        let loop = try EventLoop()
        let storage = try StorageThread(nil, modules: [])
        func make(_ folder: String) -> ResumeGuard {
            ResumeGuard(folder: folder, runtimeFolder: runtime.path, storage: storage, loop: loop, boot: [0x31])
        }
        func mayOpen(in folder: String) -> Bool { make(folder).mayOpen(a) }
        let missing = folder["missing"]
        #expect([missing, missing, missing].map(mayOpen) == [true, true, false])
        // No failed start is recorded for it any more.
        #expect(mayOpen(in: missing))
        // The folder can be written again, and the count continues.
        #expect(mayOpen(in: folder.path))
        #expect(FileKind(at: runtime["resuming"]) == nil)
        #expect(!mayOpen(in: folder.path))
    }

    @Test(
        "A full medium and a read-only one count all the same, and a clean stop is noticed",
        .enabled(if: Medium.isAvailable), arguments: [false, true])
    func unusableMedium(isReadOnly: Bool) throws {
        let (folder, runtime) = (try ScratchFolder(), try ScratchFolder())
        let medium = try Medium(at: folder["medium"], kilobytes: 16)
        let loop = try EventLoop()
        let storage = try StorageThread(nil, modules: [])
        func make() -> ResumeGuard {
            ResumeGuard(folder: medium.path, runtimeFolder: runtime.path, storage: storage, loop: loop, boot: [0x31])
        }
        func start() -> Bool { make().mayOpen(a) }
        if isReadOnly {
            // The process before died with this entry while the medium was writable.
            #expect(start())
            try medium.setReadOnly(true)
        } else {
            medium.fill()
            #expect(start())
        }
        #expect(start())
        #expect(!start())
        #expect(start())
        endRunUnlessInTime("the end of a thread") { storage.join() }
        make().end()
        storage.leave()
        #expect(start())
        #expect(start())
        #expect(!start())
    }

    @Test("A stop whose last write does not reach the medium in time is not a death")
    func slowStop() throws {
        let (folder, tracks) = (try ScratchFolder(), try Tracks())
        let fixture = try killedFixture(folder, tracks)
        try fixture.start()
        fixture.waitForSound()
        fixture.play(2000)
        fixture.waitForWriting()
        let path = folder["state/resuming"]
        #expect(FileKind(at: path) == .file)
        let held = DispatchSemaphore(value: 0)
        fixture.storage.perform { held.waitInTime() }
        fixture.perform { $0.shutDown() }
        // It shares the transaction of the last write.
        let seen = Recorder<FileKind?>()
        fixture.storage.write(answerOn: nil) { (_) throws(DatabaseError) in
            seen.record(FileKind(at: path))
        } answer: { _ in
        }
        held.signal()
        fixture.end()
        #expect(seen.elements == [nil])
    }

    /// A daemon that plays `ab`, with `a` current, and is killed.
    private func killedFixture(_ folder: ScratchFolder, _ tracks: Tracks) throws -> DaemonFixture {
        let fixture = DaemonFixture(folder: folder["state"])
        try fixture.start()
        let products = try tracks.make("ab", frames: 60_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.waitForWriting()
        try fixture.pullThePlug()
        return fixture
    }

    @Test("After two deaths the next entry plays and a problem says so, until the entry is wanted again")
    func passedOver() throws {
        let (folder, tracks) = (try ScratchFolder(), try Tracks())
        let fixture = try killedFixture(folder, tracks)
        try fixture.start()
        fixture.waitForSound()
        #expect(fixture.status.index == 0)
        fixture.waitForWriting()
        try fixture.pullThePlug()
        try fixture.start()
        fixture.waitForSound()
        #expect(fixture.status.index == 1)
        #expect(fixture.status.playback == .playing)
        #expect(fixture.status.problems.map(\.subject) == ["queue"])
        #expect(fixture.status.count == 2, "it stays in the queue")
        fixture.perform { $0.queue.previous() }
        #expect(fixture.status.index == 0)
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    @Test("A start whose decoder hangs has not survived its entry, however long it lasts")
    func hangingDecoder() throws {
        let (folder, tracks) = (try ScratchFolder(), try Tracks())
        let fixture = try killedFixture(folder, tracks)
        let gate = BusyFile.Gate()
        fixture.openFile = gate.opening
        try fixture.start()
        #expect(fixture.status.index == 0)
        gate.waitForDecoder()
        // The decoder's thread may be faster than the engine, which publishes that it has a decoder.
        fixture.wait("a stall") { $0.playback == .stalled }
        for _ in 0..<4 { fixture.pass(seconds: 30) }
        fixture.waitForWriting()
        try fixture.pullThePlug()
        gate.open()
        fixture.openFile = nil
        try fixture.start()
        fixture.waitForSound()
        #expect(fixture.status.index == 1)
        #expect(fixture.status.problems.map(\.subject) == ["queue"])
        fixture.end()
    }

    @Test(
        "A start that lasts, a clean stop and another entry begin the count again", arguments: ["time", "stop", "next"])
    func survived(how: String) throws {
        let (folder, tracks) = (try ScratchFolder(), try Tracks())
        let fixture = try killedFixture(folder, tracks)
        for _ in 0..<4 {
            try fixture.start()
            fixture.waitForSound()
            #expect(fixture.status.index == 0)
            switch how {
            case "time":
                // The entry continues to play, so that its start counts as successful.
                fixture.pass(seconds: 30)
            case "next":
                fixture.perform { $0.commands.perform(.next) }
                fixture.perform { $0.commands.perform(.previous) }
            default: break
            }
            fixture.waitForWriting()
            if how == "stop" { fixture.end() } else { try fixture.pullThePlug() }
        }
    }
}
