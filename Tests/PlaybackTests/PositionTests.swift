import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

/// The data of a play log: the position of the active product at each message, counted in heard frames.
@Suite("Positions")
struct PositionTests {
    private func playing(frames: Int = 16_000) throws -> (PlayerFixture, Track, ScratchFolder) {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: frames, in: folder)
        let fixture = try PlayerFixture()
        try fixture.play(track.product)
        return (fixture, track, folder)
    }

    /// Pauses and gives the position in frames.
    private func paused(_ fixture: PlayerFixture) throws -> Double {
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        fixture.settle()
        return (fixture.engine.assetPosition ?? -1) * 8000
    }

    private func resumed(_ fixture: PlayerFixture) throws -> Double {
        fixture.engine.play()
        try fixture.wait(for: .playing)
        fixture.settle()
        return (fixture.engine.assetPosition ?? -1) * 8000
    }

    private func sought(_ fixture: PlayerFixture, _ frame: Int) throws -> Double {
        fixture.engine.seek(Double(frame) / 8000)
        try fixture.wait(forFrame: frame)
        fixture.settle()
        return (fixture.engine.assetPosition ?? -1) * 8000
    }

    @Test("Follow the frames that are heard, with any content of the device")
    func following() throws {
        let (fixture, _, _) = try playing()
        for frame in [1, 2, 3, 100, 1600, 4096, 15_999] {
            try fixture.hear(frame - fixture.card.heardFrames)
            try fixture.wait(forFrame: frame)
        }
    }

    @Test("Played to the end: from 0 to the duration")
    func toTheEnd() throws {
        let (fixture, track, _) = try playing()
        #expect(fixture.engine.playbackContext?.startAssetPosition == 0)
        try fixture.hear(16_000 - 1)
        try fixture.wait(forFrame: 16_000 - 1)
        #expect(fixture.engine.playbackContext?.duration == track.duration)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.engine.assetPosition == nil)
    }

    @Test("Pausing and playing on is at one position, twice as well as once")
    func pausing() throws {
        let (fixture, track, _) = try playing()
        try fixture.hear(2000)
        #expect(try paused(fixture) == 2000)
        #expect(try resumed(fixture) == 2000)
        try fixture.hear(3000)
        #expect(try paused(fixture) == 5000)
        #expect(try resumed(fixture) == 5000)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        #expect(fixture.card.recordings.flatMap(\.samples) == track.samples)
    }

    @Test("Seeking while playing leads from one position to the other", arguments: [3000, 1000, 15_000])
    func seeking(target: Int) throws {
        let (fixture, _, _) = try playing()
        try fixture.hear(2000)
        try fixture.wait(forFrame: 2000)
        #expect(try sought(fixture, target) == Double(target))
        try fixture.hear(500)
        try fixture.wait(forFrame: target + 500)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING"])
    }

    @Test("Seeking while paused, forwards and back", arguments: [3000, 1000])
    func seekingPaused(target: Int) throws {
        let (fixture, _, _) = try playing()
        try fixture.hear(2000)
        #expect(try paused(fixture) == 2000)
        #expect(try sought(fixture, target) == Double(target))
        #expect(try resumed(fixture) == Double(target))
        try fixture.hear(1)
        try fixture.wait(forFrame: target + 1)
    }

    @Test("Seeking forwards and back again")
    func seekingTwice() throws {
        let (fixture, track, _) = try playing()
        try fixture.hear(2000)
        #expect(try sought(fixture, 12_000) == 12_000)
        try fixture.hear(1000)
        try fixture.wait(forFrame: 13_000)
        #expect(try sought(fixture, 4000) == 4000)
        fixture.card.playFreely()
        try fixture.wait(for: .idle)
        let heard = track.samples(0..<2000) + track.samples(12_000..<13_000) + track.samples(from: 4000)
        #expect(fixture.card.recordings.flatMap(\.samples) == heard)
    }

    @Test("A seek before play is where the product starts; it is no jump")
    func seekBeforePlay() throws {
        let recording = ScriptedRecording("a", frames: 8000, isOpenable: false)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        fixture.engine.load(recording.product)
        fixture.engine.seek(0.5)
        fixture.settle()
        recording.letOpen()
        try fixture.wait(forTransitions: 1)
        #expect(fixture.engine.playbackContext?.startAssetPosition == 0.5)
        #expect(fixture.engine.assetPosition == 0.5)
        fixture.engine.play()
        try fixture.wait(for: .playing)
        try fixture.hear(10)
        try fixture.wait(forFrame: 4010)
    }

    @Test("At a transition the new product is at its start, and the old one was at its end")
    func transition() throws {
        let (one, two) = (try Track("a", frames: 4000), try Track("b", frames: 4000))
        let fixture = try PlayerFixture()
        fixture.engine.load(one.product)
        fixture.engine.setNext(two.product)
        fixture.engine.play()
        try fixture.waitForNext()
        try fixture.wait(for: .playing)
        let engine = fixture.engine
        let positions = Recorder<Double>()
        fixture.engine.bus.subscribe { message in
            if message.isTransition { positions.record(engine.assetPosition ?? -1) }
        }
        try fixture.hear(4000)
        try fixture.wait(forFrame: 4000)
        #expect(fixture.engine.mediaProduct == one.product)
        try fixture.hear(1)
        try fixture.wait(forTransitions: 2)
        try fixture.wait(forFrame: 1)
        fixture.onControl {}
        #expect(positions.elements == [1.0 / 8000])
        #expect(fixture.engine.playbackContext?.startAssetPosition == 0)
    }

    @Test("Two products of a format each keep their own count")
    func formats() throws {
        let (one, two) = (
            try Track("a", frames: 4000), try Track("b", frames: 8000, rate: 16_000)
        )
        let fixture = try PlayerFixture()
        fixture.engine.load(one.product)
        fixture.engine.setNext(two.product)
        fixture.engine.play()
        try fixture.waitForNext()
        try fixture.hear(4001)
        try fixture.wait(forTransitions: 2)
        try fixture.wait(forFrame: 1, rate: 16_000)
        try fixture.hear(3999)
        try fixture.wait(forFrame: 4000, rate: 16_000)
    }

    @Test("Position of an appended part counts on from the first one")
    func appended() throws {
        let parts = [
            try Track("part 1", frames: 4000), try Track("part 2", frames: 8000, rate: 16_000),
        ]
        let whole = try Track("whole", joining: parts)
        let fixture = try PlayerFixture()
        fixture.engine.load(whole.product)
        fixture.engine.play()
        try fixture.hear(4000 + 1600)
        try fixture.wait(forFrame: 4000 + 800)
    }

    @Test("Reset and load forget the position")
    func reset() throws {
        let (fixture, track, folder) = try playing()
        defer { withExtendedLifetime(folder) {} }
        try fixture.hear(2000)
        fixture.engine.reset()
        try fixture.wait(for: .idle)
        fixture.settle()
        #expect(fixture.engine.assetPosition == nil)
        fixture.engine.load(track.product)
        try fixture.wait(forTransitions: 2)
        #expect(fixture.engine.assetPosition == 0)
        #expect(fixture.messages.suffix(2) == ["NOT_PLAYING", "- > a"])
    }
}
