import ApplianceTestSupport
import Foundation
import Platform
import Queue
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Playback
@testable import Player

@Suite("The medium with the music is not there")
struct MissingMediumTests {
    private let tracks: Tracks
    private let folder: ScratchFolder
    private let fixture: DaemonFixture

    init() throws {
        tracks = try Tracks()
        folder = try ScratchFolder()
        fixture = DaemonFixture(folder: folder["state"])
        try fixture.start("[audio]\nnormalization = off")
    }

    /// Plays the first 700 frames of the second of three entries.
    /// - Parameter fromSheet: as the tracks of a cue sheet.
    private func play(fromSheet: Bool = false) throws {
        var products = try tracks.make("abc", frames: 20_000)
        if fromSheet {
            let sheet = "abc".map { "FILE \($0).wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\n" }.joined()
            try Data(sheet.utf8).write(to: URL(fileURLWithPath: tracks.folder["a.cue"]))
            products = (1...3).map { QueuedProduct(.track, tracks.folder["a.cue/track000\($0)"]) }
        }
        try fixture.perform { try $0.queue.set(products, startingAt: 1, playing: true) }
        fixture.waitForSound()
        fixture.play(700)
    }

    private func start(_ policy: String = "playing") throws {
        try fixture.start("[audio]\nnormalization = off\n[player]\nresume = \(policy)")
    }

    private func takeMediumAway() throws {
        try FileManager.default.moveItem(atPath: tracks.folder.path, toPath: folder["elsewhere"])
    }

    private func bringMediumBack() throws {
        try FileManager.default.moveItem(atPath: folder["elsewhere"], toPath: tracks.folder.path)
    }

    /// Lets time pass until it is so.
    private func pass(until isTrue: (DaemonStatus) -> Bool) throws {
        for _ in 0..<10_000 {
            if isTrue(fixture.status) { return }
            fixture.pass(seconds: 2)
            fixture.settle()
        }
        Issue.record("timeout: \(fixture.status)")
    }

    private var failures: Int { fixture.events.filter { if case .failed = $0 { true } else { false } }.count }

    private func expectWaiting(_ playback: QueuePlayback = .stalled) {
        fixture.wait("the problem") { $0.problems.map(\.subject) == ["music"] }
        let status = fixture.status
        #expect(status.playback == playback)
        #expect(status.index == 1)
        #expect(abs(status.position - 0.7) < 0.001, "\(status.position)")
    }

    private func expectGoingOn() throws {
        fixture.waitForSound()
        fixture.play(300)
        #expect(fixture.card.heard == "b0-1000")
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    @Test("at the start: the queue waits for it, and resumes at its position", arguments: [false, true])
    func absentAtStart(fromSheet: Bool) throws {
        try play(fromSheet: fromSheet)
        fixture.end()
        try takeMediumAway()
        try start()
        expectWaiting()
        fixture.pass(seconds: 2)
        expectWaiting()
        #expect(failures == 1, "it is reported once")
        try bringMediumBack()
        try pass { $0.device != nil }
        try expectGoingOn()
    }

    @Test("at the start, with its mount point empty: it is waited for as well")
    func mountedLate() throws {
        try play()
        fixture.end()
        try takeMediumAway()
        try FileManager.default.createDirectory(atPath: tracks.folder.path, withIntermediateDirectories: false)
        try start()
        expectWaiting()
        try FileManager.default.removeItem(atPath: tracks.folder.path)
        try bringMediumBack()
        try pass { $0.device != nil }
        try expectGoingOn()
    }

    @Test("at the start, and its mount point holds files of the system below it: it is waited for as well")
    func mountedOverFiles() throws {
        try play()
        // As after music was added from a medium that is mounted there.
        fixture.perform { [tracks] in
            do throws(PlayQueueError) {
                try $0.queue.edit { queue throws(PlayQueueError) in queue.note(media: [tracks.folder.path]) }
            } catch {
                Issue.record(error)
            }
        }
        fixture.end()
        try takeMediumAway()
        try FileManager.default.createDirectory(atPath: tracks.folder.path, withIntermediateDirectories: false)
        try Data("not mounted".utf8).write(to: URL(fileURLWithPath: tracks.folder["README"]))
        try start()
        expectWaiting()
        fixture.pass(seconds: 2)
        expectWaiting()
        try FileManager.default.removeItem(atPath: tracks.folder.path)
        try bringMediumBack()
        try pass { $0.device != nil }
        try expectGoingOn()
    }

    @Test("for longer: the others have their turn, and when they are not there either, it is waited for on and on")
    func absentForLong() throws {
        try play()
        fixture.end()
        try takeMediumAway()
        try start()
        try pass { _ in failures == 2 }
        expectWaiting()
        for _ in 0..<100 { fixture.pass(seconds: 10) }
        expectWaiting()
        try bringMediumBack()
        try pass { $0.device != nil }
        try expectGoingOn()
    }

    @Test("but others can be played: they are, after a while")
    func othersElsewhere() throws {
        let other = try Tracks()
        let products = try tracks.make("a", frames: 20_000) + other.make("b", frames: 20_000)
        try takeMediumAway()
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.wait("the problem") { $0.problems.map(\.subject) == ["music"] }
        try pass { $0.device != nil }
        fixture.waitForSound()
        fixture.play(100)
        #expect(fixture.card.heard == "b0-100")
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    @Test("and the plug is pulled meanwhile: nothing is forgotten", arguments: [false, true])
    func pulledPlug(othersWereTried: Bool) throws {
        try play()
        fixture.end()
        try takeMediumAway()
        try start()
        if othersWereTried { try pass { _ in failures == 2 } }
        expectWaiting()
        fixture.waitForWriting()
        try fixture.pullThePlug()
        try bringMediumBack()
        try start()
        try expectGoingOn()
    }

    @Test("when the next entry is opened: the queue waits for it, and skips none")
    func goneBetweenTracks() throws {
        let products = try tracks.make("abc", frames: 2000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.waitForSound()
        // The first two are open already.
        try takeMediumAway()
        fixture.card.playFreely()
        fixture.wait("the problem") { $0.problems.map(\.subject) == ["music"] }
        #expect(fixture.status.index == 2 && fixture.status.position == 0 && fixture.status.playback == .stalled)
        #expect(fixture.card.heard == "a0-2000 b0-2000")
        try bringMediumBack()
        try pass { $0.playback == .stopped }
        #expect(fixture.card.heard == "a0-2000 b0-2000 c0-2000")
        #expect(fixture.status.problems == [])
        fixture.end()
    }

    @Test("during seek, pause and play: it resumes as requested")
    func commandsMeanwhile() throws {
        try play()
        fixture.end()
        try takeMediumAway()
        try start()
        expectWaiting()
        fixture.perform { $0.queue.seek(to: 5) }
        for _ in 0..<3 {
            fixture.perform { $0.commands.perform(.pause) }
            fixture.perform { $0.commands.perform(.play) }
            fixture.pass(seconds: 2)
            fixture.settle()
        }
        #expect(fixture.status.position == 5)
        try bringMediumBack()
        try pass { $0.device != nil }
        fixture.waitForSound()
        fixture.play(300)
        #expect(fixture.card.heard == "b0-700 b5000-5300")
        fixture.end()
    }

    @Test("while it is paused: it stays paused, and play resumes at its position")
    func paused() throws {
        try play()
        fixture.end()
        try takeMediumAway()
        try start("paused")
        expectWaiting(.paused)
        try bringMediumBack()
        try pass { $0.problems == [] }
        #expect(fixture.status.playback == .paused)
        fixture.perform { $0.commands.perform(.play) }
        try expectGoingOn()
    }

    @Test("and something else is wanted: the wait is over")
    func somethingElse() throws {
        try play()
        fixture.end()
        let other = try Tracks()
        try takeMediumAway()
        try start()
        expectWaiting()
        let products = try other.make("x", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        #expect(fixture.status.problems == [])
        fixture.waitForSound()
        fixture.play(100)
        #expect(fixture.card.heard == "b0-700 x0-100")
        fixture.end()
    }
}

@Suite("The medium with the music is slow")
struct SlowMediumProblemTests {
    @Test("It is a problem after 5 s, a healthy state, and over when the data comes")
    func slow() throws {
        let (tracks, folder) = (try Tracks(), try ScratchFolder())
        let fixture = DaemonFixture(folder: folder["state"])
        let isThere = DispatchSemaphore(value: 0)
        fixture.openFile = { path, cancellation throws(SystemError) in
            isThere.waitInTime()
            isThere.signal()
            return try FileByteSource(path: path, cancellation: cancellation)
        }
        try fixture.start()
        let products = try tracks.make("ab", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        fixture.wait("a stall") { $0.playback == .stalled }
        #expect(fixture.status.problems == [])
        fixture.pass(milliseconds: 4999)
        #expect(fixture.status.problems == [])
        fixture.pass(milliseconds: 1)
        #expect(fixture.status.problems.map(\.subject) == ["music"])
        #expect(fixture.status.problems.first?.message.contains("the medium is slow") == true)
        isThere.signal()
        fixture.waitForSound()
        fixture.wait("the end of the problem") { $0.problems.isEmpty }
        fixture.end()
    }

    @Test("A decoder that is busy is a problem after 5 s, too, but no slow medium")
    func busy() throws {
        let (tracks, folder) = (try Tracks(), try ScratchFolder())
        let fixture = DaemonFixture(folder: folder["state"])
        let gate = BusyFile.Gate()
        fixture.openFile = gate.opening
        try fixture.start()
        let products = try tracks.make("a", frames: 20_000)
        try fixture.perform { try $0.queue.set(products, playing: true) }
        gate.waitForDecoder()
        fixture.wait("a stall") { $0.playback == .stalled }
        #expect(fixture.status.wait == nil)
        fixture.pass(seconds: 5)
        #expect(fixture.status.problems.map(\.subject) == ["music"])
        #expect(fixture.status.problems.first?.message.contains("decoding takes long") == true)
        gate.open()
        fixture.waitForSound()
        fixture.wait("the end of the problem") { $0.problems.isEmpty }
        fixture.end()
    }

    @Test(
        "The problem names the reason",
        arguments: [
            (.wait(.medium), "/a.flac", "the medium is slow"), (.wait(.medium), "tonearm:track/1", "comes slowly"),
            (.wait(.link), "tonearm:track/1", "there is no network"),
            (.wait(.network(seconds: 3)), "tonearm:track/1", "the network has failed"),
            (.wait(.service(seconds: 3)), "tonearm:track/1", "the content service fails"),
            (.decoding, "/a.flac", "decoding takes long"),
        ] as [(EntryProblems.Delay, String, String)])
    func texts(delay: EntryProblems.Delay, productId: String, expected: String) {
        let message = EntryProblems.message(productId, delay)
        #expect(message.hasPrefix("\(productId): ") && message.contains(expected))
    }

    @Test("It follows the reason, and is silent where the data is not late")
    func changes() throws {
        let clock = ManualClock()
        let loop = try EventLoop(drivenBy: clock)
        let thread = try NamedThread.start(name: "appliance") { loop.run() }
        let told = Recorder<String>()
        let reasons: [EntryProblems.Delay?] = [
            nil, .wait(.medium), .wait(.network(seconds: 1)), .wait(.network(seconds: 9)),
        ]
        let asked = Recorder<Void>()
        func perform(_ action: @escaping @Sendable () -> Void) {
            let done = DispatchSemaphore(value: 0)
            loop.post {
                action()
                done.signal()
            }
            done.waitOrEndRun("the loop")
        }
        // Safe: used on the loop's thread alone.
        nonisolated(unsafe) let problem = EntryProblems(loop: loop) { told.record("\($0) \($1 ?? "-")") }
        perform {
            problem.waits(QueuedProduct(.track, "x")) {
                asked.record(())
                return reasons[asked.elements.count - 1]
            }
        }
        for _ in 0..<4 {
            clock.advance(by: 5_000_000_000)
            loop.clockAdvanced()
            perform {}
        }
        perform { problem.waits(nil) { nil } }
        clock.advance(by: 50_000_000_000)
        loop.clockAdvanced()
        perform {}
        let texts = told.elements.map { text in
            let word = ["medium", "network"].first { text.contains("the \($0)") } ?? "-"
            return "\(text.prefix { $0 != " " }) \(word)"
        }
        // No problem, the medium, the network, the network, no problem.
        #expect(
            texts == [
                "music -", "service -", "music medium", "service -", "music -", "service network", "music -",
                "service network", "music -", "service -",
            ])
        loop.stop()
        thread.joinOrEndRun()
    }

    @Test("A stick that was pulled out is a missing medium within two seconds, whatever the error of reading was")
    func pulledOut() throws {
        let folder = try ScratchFolder()
        let loop = try EventLoop()
        let thread = try NamedThread.start(name: "appliance") { loop.run() }
        defer {
            loop.stop()
            thread.joinOrEndRun()
        }
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder["a.flac"]))
        let path = folder["a.flac"]
        let told = Recorder<String>()
        // Safe: used on the loop's thread alone.
        nonisolated(unsafe) let problem = EntryProblems(loop: loop) { told.record("\($0) \($1 ?? "-")") }
        loop.post { problem.mediumIsMissing("\(path): Input/output error. It is retried.", of: path) }
        expectSoon("the error") { told.elements.contains { $0.contains("Input/output error") } }
        try FileManager.default.removeItem(atPath: path)
        expectSoon("the missing medium") {
            told.elements.contains("music \(path): its medium is missing. Put it in again; playback goes on then.")
        }
    }
}
