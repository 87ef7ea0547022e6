import ApplianceTestSupport
import Database
import Foundation
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance

@Suite("A state that cannot be written at the start")
struct UnusableStateTests {
    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["medium/state"])
    }

    /// Plays something else, and waits until that is stored once the medium can be written again.
    private func playAndStore(_ release: () throws -> Void) throws {
        let products = try tracks.make("c", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        fixture.waitForWriting()
        #expect(fixture.status.problems.map(\.subject) == ["storage"])
        try release()
        fixture.pass(seconds: 31)
        fixture.wait("the write") { $0.problems == [] }
        fixture.end()
        try fixture.start()
        #expect(fixture.status.count == 1)
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    @Test("no folder: it plays and answers from memory, says why, and writes when it can")
    func missing() throws {
        try Data().write(to: URL(fileURLWithPath: folder["medium"]))
        try fixture.start()
        #expect(fixture.status.problems.map(\.subject) == ["storage"])
        #expect(fixture.status.problems[0].message.contains(folder["medium"]))
        try playAndStore { try FileManager.default.removeItem(atPath: folder["medium"]) }
    }

    @Test("a folder that turns up later, with a queue: it is told, and the queue is put aside and not overwritten")
    func turnsUp() throws {
        try fixture.start()
        let products = try tracks.make("ab", frames: 2000)
        try fixture.perform { try $0.queue.set(products, playing: false) }
        fixture.end()
        try FileManager.default.moveItem(atPath: folder["medium"], toPath: folder["mounted later"])
        try Data().write(to: URL(fileURLWithPath: folder["medium"]))
        try fixture.start()
        #expect(fixture.status.count == 0)
        // A write that still runs would fail after the folder is back, and put the next one off.
        fixture.waitForWriting()
        try FileManager.default.removeItem(atPath: folder["medium"])
        try FileManager.default.moveItem(atPath: folder["mounted later"], toPath: folder["medium"])
        fixture.pass(seconds: 31)
        fixture.wait("the write") { $0.problems.map(\.subject) == ["damage"] }
        #expect(fixture.status.problems.first?.message.contains(folder["medium/state/tonearm.db.unread-1"]) == true)
        fixture.end()
        let aside = try Database(path: folder["medium/state/tonearm.db.unread-1"])
        #expect(try QueueStore(aside).contents().queue.count == 2)
    }

    @Test(
        "a read-only medium: the same, with the queue and the volume that are on it", .enabled(if: Medium.isAvailable),
        arguments: [false, true])
    func readOnly(killed: Bool) throws {
        let medium = try Medium(at: folder["medium"], kilobytes: 4096)
        try fixture.start()
        let products = try tracks.make("ab", frames: 2000)
        try fixture.perform { try $0.queue.set(products, playing: false) }
        fixture.perform { $0.volume.set(percent: 33) }
        fixture.waitForWriting()
        // A volume that changes within a second after another write comes at the end of that second.
        do {
            let stored = try Database(path: folder["medium/state/tonearm.db"])
            fixture.wait("the volume") { _ in (try? KeyValueStore(stored).integer("playback.volume")) == 33 }
        }
        if killed { try fixture.pullThePlug() } else { fixture.end() }
        try medium.setReadOnly(true)
        try fixture.start()
        #expect(fixture.status.count == 2)
        #expect(fixture.status.volumePercent == 33)
        #expect(fixture.status.problems.map(\.subject) == ["storage"])
        try playAndStore { try medium.setReadOnly(false) }
    }

    @Test(
        "a damaged file on a read-only medium is told by its own name, and again when it was recovered",
        .enabled(if: Medium.isAvailable))
    func damagedReadOnly() throws {
        let medium = try Medium(at: folder["medium"], kilobytes: 4096)
        try fixture.start()
        let products = try tracks.make("ab", frames: 2000)
        try fixture.perform { try $0.queue.set(products, playing: false) }
        fixture.end()
        let path = folder["medium/state/tonearm.db"]
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The list of free pages leads out of the file.
        bytes.replaceSubrange(32..<40, with: [0, 0, 0xFF, 0xFF, 0, 0, 0, 1])
        try bytes.write(to: URL(fileURLWithPath: path))
        try medium.setReadOnly(true)
        try fixture.start()
        #expect(fixture.status.count == 2)
        func damage(_ status: DaemonStatus) -> String {
            status.problems.first { $0.subject == DaemonProblem.damage }?.message ?? ""
        }
        let told = damage(fixture.status)
        #expect(told.hasPrefix("\(path) is damaged"))
        #expect(!told.contains("tonearm-state-") && !told.contains("damaged-"))
        // A write that still runs would fail after the medium is released, and put the next one off.
        fixture.waitForWriting()
        try medium.setReadOnly(false)
        fixture.pass(seconds: 31)
        fixture.wait("the recovery") { damage($0).contains("\(path).damaged-1") }
        fixture.end()
    }

    @Test("a full medium: the same", .enabled(if: Medium.isAvailable), arguments: [false, true])
    func full(isFirstStart: Bool) throws {
        let medium = try Medium(at: folder["medium"], kilobytes: 1024)
        if !isFirstStart {
            try fixture.start()
            let products = try tracks.make("ab", frames: 2000)
            try fixture.perform { try $0.queue.set(products, playing: false) }
            fixture.end()
        }
        medium.fill()
        try fixture.start()
        #expect(fixture.status.count == (isFirstStart ? 0 : 2))
        try playAndStore { medium.empty() }
    }
}
