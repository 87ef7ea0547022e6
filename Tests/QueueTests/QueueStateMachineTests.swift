import Output
import Platform
import Player
import Testing

@testable import Queue
@testable import CutProgram

/// Every row has events of a queue, and the effects on the engine and the listeners. Effects are written as words:
/// `load a.1`, `next b.2`, `next -`, `play`, `seek 3.0`, `wake 2`, `tell queueChanged`.
@Suite("The queue as a state machine")
struct QueueStateMachineTests {
    private typealias Event = QueueStateMachine.Event
    private typealias Heard = QueueStateMachine.Heard
    private typealias Play = QueuePlay

    private static let lostDevice = PlayerError.Cause.device(.refused(device: "hw:0", code: -28, reason: "full"))

    // MARK: Requests of people

    @Test("A start makes the current entry ready, playing or not", arguments: [true, false])
    func resume(playing: Bool) throws {
        var play = try Play("abc", current: "b")
        let effects = play.handle(.resume(position: 7, playing: playing))
        #expect(
            effects == ["load b.1", "seek 7.0 at once", "next c.2"] + (playing ? ["play"] : []) + ["queueChanged"])
        #expect(play.machine.position(nil) == 7)
    }

    @Test("play loads the current entry, or the first one; a second play changes nothing")
    func play() throws {
        var play = try Play("ab")
        #expect(play.handle(.play) == ["load a.1", "next b.2", "play", "queueChanged"])
        #expect(play.handle(.play) == [])
        #expect(play.handle(.pause) == ["pause", "queueChanged", "rested"])
        #expect(play.handle(.pause) == [])
        #expect(play.handle(.toggle) == ["play", "queueChanged"])
        #expect(play.handle(.toggle) == ["pause", "queueChanged", "rested"])
    }

    @Test("stop frees the device; play starts the entry from its beginning")
    func stop() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        #expect(play.handle(.stop, Heard(position: 30)) == ["reset", "queueChanged", "rested"])
        #expect(play.machine.position(30) == 0)
        #expect(play.handle(.play) == ["load a.3", "next b.4", "play", "queueChanged"])
    }

    @Test("next and previous load the neighbour, playing or not as before")
    func neighbours() throws {
        var play = try Play("abc", current: "b")
        _ = play.handle(.resume(position: 0, playing: false))
        #expect(play.handle(.next) == ["load c.3", "queueChanged", "positionJumped"])
        #expect(play.handle(.next) == [], "nothing follows")
        #expect(play.handle(.previous) == ["load b.4", "next c.5", "queueChanged", "positionJumped"])
    }

    @Test("previous restarts the entry when more than 3 s were heard", arguments: [(3.0, "load"), (3.1, "seek")])
    func restart(position: Double, first: String) throws {
        var play = try Play("ab", current: "b")
        _ = play.handle(.resume(position: 0, playing: true))
        _ = play.began("b", 1)
        #expect(play.handle(.previous, Heard(position: position)).first?.hasPrefix(first) == true)
    }

    @Test("seek is limited to the entry, and is the position until the engine is there")
    func seek() throws {
        var play = try Play("ab")
        #expect(play.handle(.seek(seconds: 3)) == ["positionJumped"], "play begins there")
        #expect(play.handle(.play) == ["load a.1", "seek 3.0 at once", "next b.2", "play", "queueChanged"])
        _ = play.began("a", 1)
        #expect(play.handle(.seek(seconds: 500), Heard(duration: 100)) == ["seek 100.0", "positionJumped"])
        #expect(play.handle(.seek(seconds: -1), Heard(duration: 100)) == ["seek 0.0", "positionJumped"])
        #expect(play.machine.position(42) == 0)
        _ = play.handle(.sought)
        #expect(play.machine.position(42) == 0, "one is still under way")
        _ = play.handle(.sought)
        #expect(play.machine.position(42) == 42)
        #expect(play.handle(.seek(seconds: .infinity)) == [])
        #expect(play.handle(.seek(seconds: .nan)) == [])
    }

    @Test(
        "An empty queue takes every request",
        arguments: [
            Event.play, .pause, .toggle, .next, .previous, .seek(seconds: 1), .regain, .woken,
        ])
    private func empty(event: Event) throws {
        var play = try Play("")
        #expect(play.handle(event) == [])
        #expect(!play.machine.wantsToPlay)
    }

    // MARK: Changing the queue

    @Test("The next entry follows each change; another current entry is loaded")
    func edits() throws {
        var play = try Play("abcd")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        #expect(try play.edit { $0.remove([$0.id("b")]) } == ["next c.3", "queueChanged"])
        #expect(try play.edit { $0.remove([$0.id("d")]) } == ["queueChanged"])
        #expect(try play.edit { $0.repeatMode = .one } == ["next a.4", "queueChanged"])
        #expect(try play.edit { $0.repeatMode = .off } == ["next c.5", "queueChanged"])
        #expect(try play.edit { $0.remove([$0.id("c")]) } == ["next -", "queueChanged"])
        #expect(try play.edit { $0.clear() } == ["reset", "queueChanged"])
        #expect(!play.machine.wantsToPlay)
    }

    @Test("A set queue is loaded even when its entry is the one that plays")
    func replace() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        try play.machine.replace(playing: nil) { queue throws(PlayQueueError) in try queue.select(queue.id("a")) }
        let effects = play.machine.takeEffects()
        #expect(effects.count == 5)
        #expect(effects.first == .load(QueuedProduct(.track, "a").mediaProduct(referenceId: "1.3")))
    }

    // MARK: The device

    @Test("After release everything works silently; after regain it resumes at its position")
    func release() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        #expect(play.handle(.release, Heard(position: 12)) == ["reset", "rested"])
        #expect(play.handle(.release) == [])
        #expect(play.handle(.pause) == ["queueChanged", "rested"])
        #expect(play.handle(.play) == ["queueChanged"])
        #expect(play.handle(.regain) == ["load a.3", "seek 12.0 at once", "next b.4", "play"])
        #expect(play.handle(.regain) == [])
    }

    // MARK: Messages of the engine

    @Test("From one entry to the next to the end")
    func inOrder() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        #expect(play.began("a", 1) == ["currentAnnounced"])
        #expect(play.began("b", 2) == ["advanced", "currentAnnounced"])
        #expect(play.finished("b", 2) == ["advanced", "ended"])
        #expect(play.machine.contents.current == nil && !play.machine.wantsToPlay)
    }

    @Test("Messages about earlier requests change nothing")
    func late() throws {
        var play = try Play("abc")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        _ = play.handle(.next)
        #expect(play.began("a", 1) == [])
        #expect(play.failed("a", 1) == [])
        #expect(play.finished("a", 1) == [])
        #expect(play.began("b", 2) == [])
        #expect(play.failed("b", 2) == [])
        #expect(play.machine.contents.currentLetter == "b")
    }

    @Test("An entry that comes when the last has just ended is played")
    func lateArrival() throws {
        var play = try Play("a")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        try play.machine.edit { queue throws(PlayQueueError) in try queue.add(QueuedProduct.letters("b")) }
        _ = play.machine.takeEffects()
        #expect(play.finished("a", 1) == ["load b.3", "play", "advanced"])
    }

    @Test("Entries that cannot be played are skipped; a queue with only such entries ends")
    func broken() throws {
        var play = try Play("abc")
        _ = play.handle(.play)
        #expect(play.failed("a", 1) == ["failed a", "load b.3", "next c.4", "play", "advanced"])
        #expect(play.failed("b", 3) == ["failed b", "load c.5", "play", "advanced"])
        #expect(play.failed("c", 5) == ["failed c", "advanced", "ended"])
        #expect(!play.machine.wantsToPlay)
    }

    @Test("An error of the device ends a command's queue, and skips an entry of the appliance's")
    func deviceError() throws {
        var command = try Play("abc", rules: .command)
        _ = command.handle(.play)
        #expect(command.failed("a", 1, Self.lostDevice) == ["failed a", "advanced", "ended"])
        var appliance = try Play("abc")
        _ = appliance.handle(.play)
        #expect(appliance.failed("a", 1, Self.lostDevice).contains("load b.3"))
    }

    @Test("The engine's state and quality are passed on; a revoked privilege pauses")
    func passedOn() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        #expect(play.handle(.engineIs(.stalled)) == ["stateChanged(Playback.PlaybackState.stalled)"])
        #expect(play.handle(.contextChanged) == ["currentAnnounced"])
        let effects = [#"revoked(otherDevice: Optional("x"))"#, "pause", "queueChanged", "rested"]
        #expect(play.handle(.revoked(otherDevice: "x")) == effects)
        #expect(!play.machine.wantsToPlay)
    }

    // MARK: Entries too short to hear

    @Test(
        "A round of entries without sound stops the queue; one with sound continues",
        arguments: [
            ([0, 0, 0], RepeatMode.all, true), ([0.19, 0.19, 0.19], .all, true), ([0, 0, 5], .all, false),
            ([0.5, 0.5, 0.5], .all, false), ([0, 0, 0], .off, false), ([0, 1, 1], .one, true),
            ([0.3, 0, 0], .one, false),
        ] as [([Double], RepeatMode, Bool)])
    func shortRound(durations: [Double], mode: RepeatMode, stops: Bool) throws {
        var play = try Play("abc", repeating: mode)
        _ = play.handle(.play)
        var (serial, index) = (1 as UInt64, 0)
        var stopped = false
        for _ in 0..<9 where !stopped {
            let letter = Character(mode == .one ? "a" : String("abc".dropFirst(index).prefix(1)))
            stopped = play.began(letter, serial, duration: durations[index]).contains("nothingToHear")
            if mode != .one { index = (index + 1) % 3 }
            if mode == .off && index == 0 { break }
            serial += 1
        }
        #expect(stopped == stops)
        #expect(play.machine.wantsToPlay != stops)
    }

    @Test("When the length is unknown, the time of the entry counts")
    func unknownLength() throws {
        var play = try Play("a", repeating: .all)
        _ = play.handle(.play)
        _ = play.began("a", 1, duration: nil, time: 0)
        #expect(!play.began("a", 2, duration: nil, time: 60_000_000_000).contains("nothingToHear"))
        #expect(play.began("a", 3, duration: nil, time: 60_010_000_000).contains("nothingToHear"))
    }

    @Test("Entries that fail and entries of no frames do not go round for ever", arguments: [0.0, 100])
    func brokenAndEmpty(duration: Double) throws {
        var play = try Play("ab", repeating: .all)
        _ = play.handle(.play)
        #expect(play.failed("a", 1).contains("load b.3"))
        _ = play.handle(.engineIs(.playing))
        _ = play.began("b", 3, duration: duration)
        #expect(play.failed("a", 4).contains("nothingToHear") == (duration == 0))
    }
}
