import PCM
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player

@Suite("Playback decisions")
struct PlaybackStateMachineTests {
    typealias Event = PlaybackStateMachine.Event
    typealias Effect = PlaybackStateMachine.Effect

    @Test(
        "Load drops everything and opens the product; the state is NOT_PLAYING at once",
        arguments: Situation.allCases)
    func load(situation: Situation) {
        let dropped: [Effect] = situation == .idle ? [] : situation.closing + [.silence(releaseDevice: false)]
        let changed: [Effect] = situation.state == .notPlaying ? [] : [.send(.playbackStateChanged(.notPlaying))]
        #expect(situation.machine().handle(.load(c, third)) == dropped + [.open(third, c)] + changed)
    }

    @Test("Play runs a product that is ready and watches its start; it is idempotent", arguments: Situation.allCases)
    func play(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .loading: [.watchStart(generation: 1)]
            case .paused, .pausedNextLoading, .pausedNextReady: [.run(generation: 1), .watchStart(generation: 1)]
            case .pausedSeeking: [.watchStart(generation: 1)]
            default: []
            }
        let machine = situation.machine()
        #expect(machine.handle(.play) == expected)
        #expect(machine.handle(.play) == [])
    }

    @Test("Pause holds; it is idempotent", arguments: Situation.allCases)
    func pause(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .idle, .loading, .paused, .pausedNextLoading, .pausedNextReady, .pausedSeeking: []
            case .loadingToPlay, .starting: [.hold]
            default: [.hold, .send(.playbackStateChanged(.notPlaying))]
            }
        let machine = situation.machine()
        #expect(machine.handle(.pause) == expected)
        #expect(machine.handle(.pause) == [])
    }

    @Test("Seek holds until there is audio from the new position", arguments: Situation.allCases)
    func seek(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .idle: []
            case .loading, .loadingToPlay: [.seek(first, seconds: 5)]
            case .paused, .pausedNextLoading, .pausedNextReady, .pausedSeeking: [.hold, .seek(first, seconds: 5)]
            case .seeking: [.hold, .seek(first, seconds: 5), .watchStart(generation: 3)]
            // A product that failed before may be readable now, and then the next product follows again.
            case .failingNextReady:
                [.hold, .seek(first, seconds: 5), .watchStart(generation: 2), .follow(second)]
            default: [.hold, .seek(first, seconds: 5), .watchStart(generation: 2)]
            }
        #expect(situation.machine().handle(.seek(seconds: 5)) == expected)
    }

    @Test(
        "A position is limited to the product",
        arguments: [
            (-1, 0), (-.infinity, 0), (0, 0), (9.75, 9.75), (10, 10), (10.5, 10), (.infinity, 10),
        ] as [(Double, Double)])
    func seekLimits(position: Double, limited: Double) {
        let effects = Situation.paused.machine().handle(.seek(seconds: position))
        #expect(effects == [.hold, .seek(first, seconds: limited)])
    }

    @Test("A position that is not a number changes nothing", arguments: Situation.allCases)
    func seekNowhere(situation: Situation) {
        #expect(situation.machine().handle(.seek(seconds: .nan)) == [])
    }

    @Test("Audio from a new position is begun with, and runs where it did", arguments: Situation.allCases)
    func repositioned(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .seeking: [.begin(first), .run(generation: 2)]
            case .pausedSeeking: [.begin(first)]
            default: []
            }
        guard situation.isSeeking else { return }
        #expect(situation.machine().handle(.repositioned(first)) == expected)
    }

    @Test("Reset frees everything, without a transition", arguments: Situation.allCases)
    func reset(situation: Situation) {
        let expected: [Effect] = situation == .idle ? [.silence(releaseDevice: true)] : situation.closing + ends
        let machine = situation.machine()
        #expect(machine.handle(.reset) == expected)
        #expect(machine.value.announced == nil)
        #expect(machine.value.context == nil)
    }

    @Test("The transition comes when the product could be opened")
    func opened() {
        let transition = Effect.send(
            .mediaProductTransition(
                MediaProductTransition(previous: nil, active: a, context: contextOfA)))
        #expect(Situation.loading.machine().handle(.opened(first, contextOfA)) == [.begin(first), transition])
        #expect(
            Situation.loadingToPlay.machine().handle(.opened(first, contextOfA))
                == [.begin(first), .run(generation: 1), transition])
    }

    @Test(
        "The active product fails with nothing left to hear: the error, then IDLE",
        arguments: Situation.allCases.filter { $0 != .idle })
    func failed(situation: Situation) {
        let effects = situation.machine().handle(.failed(first, errorOfA, hasFrames: false))
        #expect(effects == [.send(.error(errorOfA))] + situation.closing + ends)
    }

    @Test(
        "The active product fails in the middle: the decoded frames are heard",
        arguments: [
            Situation.paused, .starting, .playing, .stalled, .nextLoading, .nextReady, .nextFailed,
        ])
    func failedInTheMiddle(situation: Situation) {
        let machine = situation.machine()
        #expect(machine.handle(.failed(first, errorOfA, hasFrames: true)) == [.follow(nil), .finish(first)])
        #expect(machine.handle(.ended(first)) == [.send(.error(errorOfA))] + situation.closing + ends)
    }

    @Test("The end", arguments: Situation.allCases.filter { $0.machine().value.announced != nil })
    func ended(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .nextLoading:
                [.close(first), .silence(releaseDevice: false), .send(.playbackStateChanged(.stalled))]
            case .pausedNextLoading:
                [.close(first), .silence(releaseDevice: false)]
            case .nextReady:
                [.close(first), .follow(nil), .begin(second), .run(generation: 2), .watchStart(generation: 2), aToB]
            case .pausedNextReady:
                [.close(first), .follow(nil), .begin(second), aToB]
            case .nextFailed: [.send(.error(errorOfB)), .close(first), .close(second)] + ends
            case .failing: [.send(.error(errorOfA)), .close(first)] + ends
            case .failingNextReady: [.send(.error(errorOfA)), .close(first), .close(second)] + ends
            default:
                [
                    .send(.mediaProductTransition(MediaProductTransition(previous: a, active: nil, context: nil))),
                    .close(first),
                ] + ends
            }
        #expect(situation.machine().handle(.ended(first)) == expected)
    }

    @Test("A late report about a skipped product does not cause PLAYING while nothing is heard")
    func lateReportAfterSkip() {
        let machine = Situation.nextLoading.machine()
        #expect(machine.handle(.skipToNext).contains(.send(.playbackStateChanged(.stalled))))
        #expect(machine.handle(.running(generation: 1)) == [])
        #expect(machine.value.playbackState == .stalled)
    }

    @Test("The adaptation of channels is reported once for the active product; for the next one with its transition")
    func adapted() throws {
        let adaptation = try #require(ChannelAdaptation(from: 1, to: 2))
        let machine = Situation.nextReady.machine()
        #expect(machine.handle(.adapted(first, nil)) == [])
        var changed = contextOfA
        changed.adaptation = adaptation
        #expect(machine.handle(.adapted(first, adaptation)) == [.send(.playbackQualityChanged(changed))])
        #expect(machine.handle(.adapted(first, adaptation)) == [])
        #expect(machine.handle(.adapted(first, nil)) == [.send(.playbackQualityChanged(contextOfA))])
        #expect(machine.handle(.adapted(second, adaptation)) == [])
        changed = contextOfB
        changed.adaptation = adaptation
        let transition = MediaProductTransition(previous: a, active: b, context: changed)
        #expect(machine.handle(.heard(second)) == [.close(first), .send(.mediaProductTransition(transition))])
    }

    @Test("PLAYING when sound comes out, after play or after a stall", arguments: Situation.allCases)
    func running(situation: Situation) {
        let isNews = situation == .starting || situation == .loadingToPlay || situation == .stalled
        let expected: [Effect] = isNews ? [.send(.playbackStateChanged(.playing))] : []
        #expect(situation.machine().handle(.running(generation: situation.generation)) == expected)
    }

    @Test("STALLED when data or the device are missing", arguments: Situation.allCases)
    func stalled(situation: Situation) {
        let expected: [Effect] =
            situation.plays && situation.state != .stalled
            ? [.send(.playbackStateChanged(.stalled))] : []
        #expect(situation.machine().handle(.starved(generation: situation.generation)) == expected)
        #expect(situation.machine().handle(.deviceLost(generation: situation.generation)) == expected)
    }

    @Test("STALLED when a start takes longer than a second", arguments: Situation.allCases)
    func late(situation: Situation) {
        let isLate = situation == .starting || situation == .loadingToPlay || situation == .seeking
        let expected: [Effect] = isLate ? [.send(.playbackStateChanged(.stalled))] : []
        #expect(situation.machine().handle(.startIsLate(generation: situation.generation)) == expected)
    }

    @Test("Pausing before a start is late leaves the state alone")
    func pausedBeforeLate() {
        let machine = Situation.loadingToPlay.machine()
        #expect(machine.handle(.pause) == [.hold])
        #expect(machine.handle(.startIsLate(generation: 1)) == [])
        #expect(machine.handle(.opened(first, contextOfA)).contains(.run(generation: 1)) == false)
    }

    @Test("A late report from before a pause does not stall the next play")
    func stalledWhilePaused() {
        let machine = Situation.playing.machine()
        _ = machine.handle(.pause)
        #expect(machine.handle(.starved(generation: 1)) == [])
        #expect(machine.handle(.play) == [.run(generation: 2), .watchStart(generation: 2)])
    }

    @Test("Playing a product that was skipped to while paused, and is not loaded, is late only after a second")
    func playAfterSkipping() {
        let machine = Situation.pausedNextLoading.machine()
        _ = machine.handle(.skipToNext)
        #expect(machine.handle(.play) == [.watchStart(generation: 1)])
        #expect(machine.handle(.startIsLate(generation: 1)) == [.send(.playbackStateChanged(.stalled))])
    }

    @Test("A new quality of the active product is reported; that of another one is not", arguments: Situation.allCases)
    func qualityChanged(situation: Situation) {
        var better = contextOfA
        better.audioSampleRate = 96_000
        let expected: [Effect] = situation == .idle ? [] : [.send(.playbackQualityChanged(better))]
        #expect(situation.machine().handle(.qualityChanged(first, better)) == expected)
        #expect(situation.machine().handle(.qualityChanged(second, better)) == [])
    }

    @Test("A new session of the active product is reported with its whole context")
    func sessionRenewed() {
        var changed = contextOfA
        changed.playbackSessionId = "new"
        let machine = Situation.playing.machine()
        #expect(machine.handle(.sessionRenewed(first, "new")) == [.send(.playbackQualityChanged(changed))])
        #expect(machine.handle(.sessionRenewed(second, "other")) == [])
        // Before it is open, the context that is created later contains it.
        #expect(Situation.loading.machine().handle(.sessionRenewed(first, "new")) == [])
    }

    @Test("A late report of a product that is gone changes nothing", arguments: Situation.allCases)
    func late(from situation: Situation) {
        let gone = ItemID(number: 99)
        let events: [Event] = [
            .opened(gone, contextOfA), .repositioned(gone), .failed(gone, errorOfA, hasFrames: true),
            .failed(gone, errorOfA, hasFrames: false), .heard(gone), .ended(gone), .sessionRenewed(gone, "x"),
            .qualityChanged(gone, contextOfA),
            .running(generation: 77), .starved(generation: 77), .deviceLost(generation: 77),
            .startIsLate(generation: 77),
        ]
        let machine = situation.machine()
        for event in events { #expect(machine.handle(event) == []) }
    }

    @Test("An error on the active product makes later calls inert")
    func inertAfterError() {
        let machine = Situation.nextReady.machine()
        _ = machine.handle(.failed(first, errorOfA, hasFrames: false))
        for event in [Event.play, .pause, .seek(seconds: 1), .skipToNext, .setNext(c, third)] {
            #expect(machine.handle(event) == [])
        }
    }

    @Test("The previous product of a transition is the last one that was announced")
    func previous() {
        let machine = Situation.paused.machine()
        _ = machine.handle(.load(b, second))
        // B is dropped before any message about it.
        _ = machine.handle(.load(c, third))
        let effects = machine.handle(.opened(third, contextOfA))
        #expect(
            effects.last
                == .send(
                    .mediaProductTransition(
                        MediaProductTransition(previous: a, active: c, context: contextOfA))))
    }
}
