import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("A listener is asked before the device is reopened")
struct ReopeningTests {
    private let folder: ScratchFolder
    private let one: Track
    private let two: Track
    private let fixture: PlayerFixture
    private let told = Recorder<DeviceReopening>()

    init() throws {
        folder = try ScratchFolder()
        one = try Track("a", frames: 4000, in: folder)
        two = try Track("b", frames: 4000, rate: 16_000, in: folder)
        fixture = try PlayerFixture()
    }

    /// Plays the first track to its end; the second one needs the device reopened.
    private func playToQuestion() throws {
        fixture.engine.askBeforeReopening { [told] in told.record($0) }
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        fixture.card.playFreely()
        try wait(forTold: 1)
    }

    private func wait(forTold count: Int) throws {
        try fixture.spin("\(count) reports") { told.elements.count >= count }
        fixture.settle()
    }

    private func proceed(_ index: Int) {
        guard case .asked(let proceed) = told.elements[index] else {
            Issue.record("no question: \(story)")
            return
        }
        proceed()
        // The first turn of the loop sends it, the audio thread carries it out.
        fixture.onControl {}
        fixture.settle()
    }

    private var story: [String] {
        told.elements.map { if case .asked = $0 { "asked" } else { "started" } }
    }

    private var heard: [Int32] { fixture.card.recordings.flatMap(\.samples) }

    @Test("It waits for the answer, in state PLAYING, then all is heard and said as ever")
    func transition() throws {
        try playToQuestion()
        #expect(fixture.card.openingCount == 1)
        #expect(!fixture.card.isStarted)
        #expect(heard == one.samples)
        #expect(fixture.engine.assetPosition == one.duration)
        proceed(0)
        try fixture.wait(for: .idle)
        #expect(fixture.messages == ["NOT_PLAYING", "- > a", "PLAYING", "a > b", "b > -", "IDLE"])
        #expect(story == ["asked", "started"])
        #expect(heard == one.samples + two.samples)
    }

    @Test("Without anybody to ask it goes on at once")
    func noListener() throws {
        try fixture.play([(one.product, one.frames), (two.product, two.frames)])
        #expect(heard == one.samples + two.samples)
        #expect(fixture.card.openingCount == 2)
    }

    @Test("Pause cancels the question, play asks again")
    func pause() throws {
        try playToQuestion()
        fixture.engine.pause()
        try fixture.wait(for: .notPlaying)
        proceed(0)
        #expect(fixture.card.openingCount == 1)
        fixture.engine.play()
        try wait(forTold: 2)
        proceed(0)
        #expect(fixture.card.openingCount == 1)
        proceed(1)
        try fixture.wait(for: .idle)
        #expect(story == ["asked", "asked", "started"])
        #expect(heard == one.samples + two.samples)
    }

    @Test("A skip asks again")
    func skip() throws {
        try playToQuestion()
        fixture.engine.skipToNext()
        try wait(forTold: 2)
        #expect(fixture.messages.last == "a > b")
        proceed(1)
        try fixture.wait(for: .idle)
        #expect(story == ["asked", "asked", "started"])
        #expect(heard == one.samples + two.samples)
    }

    @Test("A seek back into what the device can play needs no answer; the next one is asked for again")
    func seek() throws {
        try playToQuestion()
        fixture.engine.seek(0.25)
        try wait(forTold: 3)
        #expect(story == ["asked", "started", "asked"])
        proceed(2)
        try fixture.wait(for: .idle)
        #expect(heard == one.samples + one.samples(from: 2000) + two.samples)
    }

    @Test("Reset and load work without an answer", arguments: [true, false])
    func other(load: Bool) throws {
        try playToQuestion()
        if load {
            fixture.engine.load(one.product)
            fixture.engine.play()
        } else {
            fixture.engine.reset()
        }
        try fixture.wait(for: .idle)
        fixture.settle()
        #expect(!fixture.card.isOpen)
        #expect(heard == (load ? one.samples + one.samples : one.samples))
    }

    @Test("A skip to another rate in the middle of the music asks as well")
    func skipWhilePlaying() throws {
        fixture.engine.askBeforeReopening { [told] in told.record($0) }
        try fixture.play(one.product, next: two.product)
        try fixture.waitForNext()
        try fixture.hear(1000)
        fixture.engine.skipToNext()
        try wait(forTold: 1)
        #expect(!fixture.card.isStarted)
        #expect(fixture.card.openingCount == 1)
        fixture.card.playFreely()
        proceed(0)
        try fixture.wait(for: .idle)
        #expect(story == ["asked", "started"])
        #expect(heard == one.samples(0..<1000) + two.samples)
    }
}
