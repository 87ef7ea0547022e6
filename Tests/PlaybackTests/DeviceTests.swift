import Dispatch
import Output
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("The device comes and goes")
struct DeviceTests {
    @Test(
        "Unplugged in the middle: STALLED with the position kept; plugged in again, it resumes at the exact frame",
        arguments: [0, 1, 2345])
    func unplugged(frame: Int) throws {
        let track = try Track("a", frames: 8000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: frame)
        try fixture.wait(forFrame: frame)
        fixture.card.unplug()
        try fixture.wait(for: .stalled)
        #expect(fixture.engine.assetPosition == Double(frame) / 8000)
        try fixture.spin("no device") { fixture.engine.deviceConfiguration == nil }
        // Attempts fail while it is missing.
        let openings = fixture.card.openingCount
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(forOpenings: openings + 1)
        fixture.card.plugIn()
        fixture.card.playFreely()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
    }

    @Test("Unplugged when the next product was in the device already: both are heard whole")
    func unpluggedWhileJoined() throws {
        let (one, two) = (try Track("a", frames: 4000), try Track("b", frames: 4000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(3900)
        try fixture.wait(forPending: 1600)
        try fixture.wait(forFrame: 3900)
        fixture.card.unplug()
        try fixture.wait(for: .stalled)
        fixture.card.plugIn()
        fixture.card.playFreely()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages
                == ["NOT_PLAYING", "- > a", "PLAYING", "STALLED", "PLAYING", "a > b", "b > -", "IDLE"])
        #expect(fixture.card.recordings.flatMap(\.samples) == one.samples + two.samples)
    }

    @Test("Unplugged while paused: nothing is said until it is played")
    func unpluggedWhilePaused() throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 1234)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.settle()
        fixture.card.unplug()
        fixture.settle()
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        #expect(fixture.engine.assetPosition == 1234.0 / 8000)
        fixture.card.plugIn()
        fixture.card.playFreely()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .idle)
        #expect(
            fixture.messages == [
                "NOT_PLAYING", "- > a", "PLAYING", "NOT_PLAYING", "STALLED", "PLAYING", "a > -", "IDLE",
            ])
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
    }

    @Test(
        "Missing or in use at the start: STALLED, and it resumes when it can be opened",
        arguments: [
            DeviceError.absent(device: "paced", present: []), .busy(device: "paced"), .noPermission(device: "paced"),
            .refused(device: "paced", code: -5, reason: "?"),
        ])
    func notThere(error: DeviceError) throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture()
        fixture.card.refuse(with: error)
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 1)
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        for _ in 0..<3 {
            let openings = fixture.card.openingCount
            fixture.advance(by: 999_000_000)
            fixture.settle()
            #expect(fixture.card.openingCount == openings)
            fixture.advance(by: 1_000_000)
            try fixture.wait(forOpenings: openings + 1)
        }
        fixture.card.plugIn()
        fixture.card.playFreely()
        fixture.advance(by: 1_000_000_000)
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "STALLED", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
    }

    @Test("While it is waited for, pause and reset work")
    func pauseWhileAbsent() throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture()
        fixture.card.unplug()
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.settle()
        let openings = fixture.card.openingCount
        fixture.advance(by: 5_000_000_000)
        fixture.settle()
        #expect(fixture.card.openingCount == openings)
        fixture.engine.play()
        try fixture.wait(for: .stalled)
        fixture.engine.reset()
        try fixture.wait(for: .idle)
        fixture.advance(by: 5_000_000_000)
        fixture.settle()
        let states = fixture.messages.filter { !$0.contains(">") }
        #expect(states == ["NOT_PLAYING", "STALLED", "NOT_PLAYING", "STALLED", "IDLE"])
    }

    @Test("A rate that it does not have, and no conversion: an error that names those it has, then IDLE")
    func rate() throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture { $0.output.sampleRates.quality = nil }
        fixture.card.support([.s32], rates: [44_100, 48_000])
        fixture.engine.load(track.product)
        fixture.engine.play()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "error d4 (a)", "IDLE"])
        let message = try #require(fixture.log.messages.compactMap(\.error).first?.message)
        #expect(message.contains("44100") || message.contains("44.1"))
        #expect(message.contains("48000") || message.contains("48"))
    }

    @Test("A rate that it does not have, in the next product: held back until that one is active")
    func rateOfNext() throws {
        let one = try Track("a", frames: 4000)
        let two = try Track("b", frames: 4000, rate: 16_000)
        let fixture = try PlayerFixture { $0.output.sampleRates.quality = nil }
        fixture.card.support([.s32], rates: [8000])
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(3999)
        fixture.settle()
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING"])
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "error d4 (b)", "IDLE"])
        #expect(fixture.card.recordings.map(\.samples) == [one.samples])
    }

    @Test("An underrun loses and repeats no frame", arguments: [0, 1000, 2000])
    func underrun(frame: Int) throws {
        let track = try Track("a", frames: 8000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: frame)
        try fixture.wait(forPending: 1600)
        fixture.card.inject(.underrun)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
        #expect(fixture.messages.filter { $0.contains(">") || $0.contains("error") } == ["- > a", "a > -"])
    }

    @Test("An underrun across a boundary reports the transition, and both are heard completely")
    func underrunAtBoundary() throws {
        let (one, two) = (try Track("a", frames: 4000), try Track("b", frames: 4000))
        let fixture = try PlayerFixture()
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(3900)
        try fixture.wait(forPending: 1600)
        fixture.card.inject(.underrun)
        try fixture.wait(forTransitions: 2)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.flatMap(\.samples) == one.samples + two.samples)
        #expect(fixture.messages.filter { $0.contains(">") } == ["- > a", "a > b", "b > -"])
    }

    @Test("Reset forgets a device that is missing, also when the report of it comes later")
    func resetWhileLost() throws {
        let track = try Track("a", frames: 4000)
        let fixture = try PlayerFixture()
        fixture.card.unplug()
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 1)
        // The device is opened while control waits between the two commands: the failure is heard after the reset.
        fixture.card.holdOpenings()
        let gate = DispatchSemaphore(value: 0)
        fixture.player.loop.post { gate.waitInTime() }
        fixture.engine.play()
        fixture.player.loop.post { [card = fixture.card] in
            card.letOpen()
            card.waitUntil("an opening") { $0.openingCount == 1 }
        }
        fixture.engine.reset()
        gate.signal()
        try fixture.wait(for: .idle)
        fixture.settle()
        #expect(fixture.engine.deviceProblem == nil)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "IDLE"])
    }

    @Test("A suspended system: it resumes at the exact frame")
    func suspended() throws {
        let track = try Track("a", frames: 8000)
        let fixture = try PlayerFixture()
        try fixture.play(track.product, hearing: 1500)
        try fixture.wait(forFrame: 1500)
        fixture.card.inject(.suspended)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
    }
}
