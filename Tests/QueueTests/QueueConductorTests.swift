import OutputTestSupport
import Platform
import Player
import QueueTestSupport
import Testing

@testable import Queue

@Suite("The conductor plays the queue")
struct QueueConductorTests {
    let tracks: Tracks
    let fixture: ConductorFixture
    var card: PacedCard { fixture.card }

    init() throws {
        tracks = try Tracks()
        fixture = try ConductorFixture()
    }

    private func set(_ word: String, frames: Int = 4000, startingAt start: Int = 0, playing: Bool = true) throws {
        let products = try tracks.make(word, frames: frames)
        fixture.perform { try! $0.set(products, startingAt: start, playing: playing) }
    }

    private var state: (current: String?, wantsToPlay: Bool) {
        fixture.perform { conductor in
            let letter = conductor.contents.current.flatMap(conductor.contents.product)?.productId.split(separator: "/")
                .last
            return (letter.map { String($0.prefix(1)) }, conductor.wantsToPlay)
        }
    }

    private func end() { fixture.shutDown() }

    // MARK: From one entry to the next

    @Test("From beginning to end, every frame; then no entry is current, and play starts again")
    func wholeQueue() throws {
        defer { end() }
        card.playFreely()
        try set("abc")
        fixture.waitForEnd()
        #expect(card.heard == sound("abc"))
        #expect(state == (nil, false))
        #expect(fixture.perform { $0.contents.history.count } == 3)
        fixture.perform { $0.play() }
        fixture.wait("the second end") { $0.filter { $0 == .ended }.count == 2 }
        #expect(card.heard == sound("abcabc"))
    }

    @Test("Repeat all goes round")
    func repeatAll() throws {
        defer { end() }
        fixture.perform { $0.setRepeatMode(.all) }
        try set("ab")
        card.play(4000 * 5)
        #expect(card.heard == sound("ababa"))
    }

    @Test("Repeat one repeats until it is switched off")
    func repeatOne() throws {
        defer { end() }
        fixture.perform { $0.setRepeatMode(.one) }
        try set("ab")
        card.play(4000 * 2 + 100)
        // Switched off in the third round: the next entry follows that.
        fixture.wait("the third round") { $0.filter { $0 == .currentAnnounced }.count == 3 }
        fixture.perform { $0.setRepeatMode(.off) }
        fixture.settle()
        card.playFreely()
        fixture.waitForEnd()
        #expect(card.heard == sound("aaab"))
    }

    @Test("The entry that is up next is heard next, after any changes of the queue")
    func changingNext() throws {
        defer { end() }
        let more = try tracks.make("xyz", frames: 4000)
        try set("abcd")
        card.play(100)
        fixture.edit { queue throws(PlayQueueError) in try queue.insertNext([more[0]]) }
        fixture.edit { queue throws(PlayQueueError) in try queue.insertNext([more[1]]) }
        fixture.edit { queue throws(PlayQueueError) in
            try queue.move(queue.playOrder[5], to: 1)  // d
            queue.remove([queue.playOrder[4]])  // b
            try queue.add([more[2]])
        }
        fixture.settle()
        card.playFreely()
        fixture.waitForEnd()
        #expect(card.heard == sound("adyxcz"))
    }

    @Test("Shuffle keeps the current entry")
    func shuffle() throws {
        defer { end() }
        try set("abcdef", startingAt: 2)
        card.play(100)
        let order = fixture.perform { conductor in
            conductor.setShuffled(true)
            return conductor.contents.entries(0..<6).map { String($0.product.productId.suffix(6).prefix(1)) }.joined()
        }
        fixture.settle()
        card.playFreely()
        fixture.waitForEnd()
        #expect(order.first == "c")
        #expect(card.heard == sound(order))
    }

    // MARK: Errors

    @Test("Failed entries are skipped", arguments: ["X?ab", "aX?b", "aX?bX", "?a?b?"])
    func broken(word: String) throws {
        defer { end() }
        card.playFreely()
        try set(word)
        fixture.waitForEnd()
        #expect(card.heard == sound("ab"))
        #expect(fixture.failedEntries.count == word.filter { $0 == "X" || $0 == "?" }.count)
        #expect(fixture.perform { $0.contents.history.count } == 2, "unheard entries are not in the history")
    }

    @Test("A queue with only failed entries ends, with every repeat mode", arguments: RepeatMode.allCases)
    func nothingButBroken(mode: RepeatMode) throws {
        defer { end() }
        card.playFreely()
        fixture.perform { $0.setRepeatMode(mode) }
        try set("X?Y?")
        fixture.waitForEnd()
        fixture.settle()
        #expect(fixture.failedEntries.count == 4)
        #expect(fixture.events.filter { $0 == .ended }.count == 1)
        #expect(state == (nil, false))
        #expect(fixture.perform { $0.contents.history.isEmpty })
        // Each attempt is a new one.
        fixture.perform { $0.play() }
        fixture.wait("the second end") { $0.filter { $0 == .ended }.count == 2 }
        #expect(fixture.failedEntries.count == 8)
    }

    @Test("A device that plays none of it ends it as well")
    func refusingDevice() throws {
        defer { end() }
        card.support([])
        card.playFreely()
        fixture.perform { $0.setRepeatMode(.all) }
        try set("abc")
        fixture.waitForEnd()
        #expect(fixture.failedEntries.count == 3)
        #expect(card.heard.isEmpty)
    }

    // MARK: Buttons

    @Test(
        "Next and previous, while playing",
        arguments: [
            (100, "next", "b", "a0 b0"), (100, "previous", "a", "a0 a0"),
        ])
    func jumps(frames: Int, button: String, current: String, heard: String) throws {
        defer { end() }
        try set("abc", frames: 20_000)
        card.play(frames)
        fixture.perform { if button == "next" { $0.next() } else { $0.previous() } }
        #expect(state.current == current)
        #expect(card.play(until: heard))
    }

    @Test("Previous restarts after more than 3 s, and goes back before")
    func previous() throws {
        defer { end() }
        try set("ab", frames: 20_000, playing: false)
        fixture.perform { conductor in
            conductor.next()
            conductor.play()
        }
        fixture.play(3 * Tracks.rate + 1)
        fixture.perform { $0.previous() }
        #expect(state.current == "b")
        #expect(card.play(until: "b0 b0"))
        fixture.perform { $0.previous() }
        #expect(state.current == "a")
        #expect(card.play(until: "b0 b0 a0"))
    }

    @Test("Next at the end does nothing")
    func nextAtEnd() throws {
        defer { end() }
        try set("ab", startingAt: 1)
        card.play(100)
        fixture.perform { $0.next() }
        card.playFreely()
        fixture.waitForEnd()
        #expect(card.heard == sound("b"))
    }

    @Test("Several presses in a row count each")
    func presses() throws {
        defer { end() }
        try set("abcdef")
        card.play(100)
        fixture.perform { conductor in
            for _ in 0..<4 { conductor.next() }
            conductor.previous()
        }
        #expect(state.current == "d")
        // The card would play b while the engine still has the other requests before it.
        fixture.settle()
        #expect(card.play(until: "a0 d0"))
    }

    @Test("Jumps keep the pause; stop frees the device and restarts the entry")
    func pauseAndStop() throws {
        defer { end() }
        try set("abc")
        card.play(1000)
        fixture.perform { conductor in
            conductor.pause()
            conductor.next()
        }
        card.waitUntil("silence") { !$0.isStarted }
        fixture.settle()
        #expect(fixture.player.playbackEngine.playbackState == .notPlaying)
        #expect(card.heardFrames == 1000)
        fixture.perform { $0.toggle() }
        card.play(1000)
        fixture.perform { $0.stop() }
        card.waitUntil("the device is free") { !$0.isOpen }
        #expect(state == ("b", false))
        #expect(fixture.perform { $0.position } == 0)
        fixture.perform { $0.play() }
        card.play(100)
        #expect(card.heard == "a0-1000 b0-1000 b0-100")
    }

    @Test("An empty queue takes every button")
    func emptyQueue() throws {
        defer { end() }
        fixture.perform { conductor in
            conductor.play()
            conductor.toggle()
            conductor.next()
            conductor.previous()
            conductor.seek(to: 3)
            conductor.stop()
            conductor.release()
            conductor.regain()
            conductor.resume(at: 10, playing: true)
        }
        #expect(state == (nil, false))
        #expect(fixture.player.playbackEngine.playbackState == .idle)
    }

    // MARK: Removing the current entry

    @Test("When the current entry is removed, the next plays; when all are removed, it ends")
    func removal() throws {
        defer { end() }
        try set("abc")
        card.play(100)
        fixture.edit { queue throws(PlayQueueError) in queue.remove([queue.current!]) }
        #expect(card.play(until: "a0 b0"))
        fixture.edit { queue throws(PlayQueueError) in queue.clear() }
        card.waitUntil("the device is free") { !$0.isOpen }
        #expect(state == (nil, false))
    }

    // MARK: Things that happen at once

    @Test("An entry that is added when the last has just ended is played")
    func addedAtTheEnd() throws {
        defer { end() }
        let more = try tracks.make("b", frames: 4000)
        card.playFreely()
        try set("a")
        fixture.perform { [fixture] conductor in
            fixture.waitForEngine("the end") { $0.last == .playbackStateChanged(.idle) }
            try! conductor.edit { queue throws(PlayQueueError) in _ = try queue.add(more) }
        }
        fixture.waitForEnd()
        #expect(card.heard == sound("ab"))
    }

    @Test("When an entry is removed just after it has begun, the next one plays")
    func removedAtItsBeginning() throws {
        defer { end() }
        try set("abc")
        fixture.settle()
        fixture.perform { [fixture] conductor in
            fixture.card.play(4100)
            fixture.waitForEngine("b") { messages in
                messages.filter { if case .mediaProductTransition = $0 { true } else { false } }.count == 2
            }
            try! conductor.edit { queue throws(PlayQueueError) in queue.remove([queue.playOrder[1]]) }
        }
        fixture.settle()
        card.playFreely()
        fixture.waitForEnd()
        #expect(card.beginnings == "a0 b0 c0")
    }

    @Test("Next that is pressed when the current one has just failed goes to the next, once")
    func nextAtFailure() throws {
        defer { end() }
        let products = try tracks.make("Xabc", frames: 4000)
        card.playFreely()
        fixture.perform { [fixture] conductor in
            try! conductor.set(products, playing: true)
            fixture.waitForEngine("the failure") { $0.contains { if case .error = $0 { true } else { false } } }
            conductor.next()
        }
        fixture.waitForEnd()
        #expect(card.heard == sound("abc"))
    }

    // MARK: Starts, and focus

    @Test("A start resumes at the exact frame", arguments: [true, false])
    func resume(playing: Bool) throws {
        end()
        var queue = PlayQueue()
        try queue.set(try tracks.make("ab", frames: 4000), random: SystemRandomSource())
        let fixture = try ConductorFixture(queue)
        defer { fixture.shutDown() }
        fixture.perform { $0.resume(at: 2, playing: playing) }
        #expect(fixture.perform { $0.position } == 2)
        fixture.wait("its context") { $0.contains(.currentAnnounced) }
        if !playing { fixture.perform { $0.play() } }
        fixture.card.playFreely()
        fixture.waitForEnd()
        #expect(fixture.card.heard == "a2000-4000 b0-4000")
    }

    @Test("After release the device is free, and after regain it resumes at the exact frame", arguments: [true, false])
    func release(playing: Bool) throws {
        defer { end() }
        try set("ab")
        fixture.wait("its context") { $0.contains(.currentAnnounced) }
        fixture.play(1500)
        if !playing { fixture.perform { $0.pause() } }
        fixture.perform { $0.release() }
        card.waitUntil("the device is free") { !$0.isOpen }
        fixture.perform { $0.regain() }
        if playing {
            card.play(2500 + 100)
            #expect(card.heard == "a0-4000 b0-100")
        } else {
            fixture.wait("its context") { $0.filter { $0 == .currentAnnounced }.count == 2 }
            #expect(!card.isOpen)
            #expect(fixture.perform { $0.position } == 1.5)
        }
    }

    @Test("While the device is released buttons and queue work, in silence")
    func buttonsWhileReleased() throws {
        defer { end() }
        try set("abc", playing: false)
        fixture.perform { conductor in
            conductor.release()
            conductor.play()
            conductor.next()
            conductor.next()
            conductor.seek(to: 2)
        }
        fixture.settle()
        #expect(card.openingCount == 0)
        #expect(state == ("c", true))
        fixture.perform { $0.regain() }
        card.playFreely()
        fixture.waitForEnd()
        #expect(card.heard == "c2000-4000")
    }
}
