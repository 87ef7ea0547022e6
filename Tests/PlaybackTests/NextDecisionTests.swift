import PCM
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player

@Suite("Playback decisions about the next product")
struct NextDecisionTests {
    typealias Event = PlaybackStateMachine.Event
    typealias Effect = PlaybackStateMachine.Effect

    @Test("A next product is opened; it takes the place of an earlier one", arguments: Situation.allCases)
    func setNext(situation: Situation) {
        let replaced: [Effect] = situation.hasNext ? [.follow(nil), .close(second)] : []
        let expected: [Effect] = situation == .idle ? [] : replaced + [.open(third, c, isNext: true)]
        #expect(situation.machine().handle(.setNext(c, third)) == expected)
    }

    @Test("The next product that is set already is left alone", arguments: Situation.allCases.filter(\.hasNext))
    func setSameNext(situation: Situation) {
        #expect(situation.machine().handle(.setNext(b, third)) == [])
    }

    @Test("A product that differs in its reference alone is another one")
    func setNextOfAnotherReference() {
        var other = b
        other.referenceId = "b again"
        let effects = Situation.nextReady.machine().handle(.setNext(other, third))
        #expect(effects == [.follow(nil), .close(second), .open(third, other, isNext: true)])
    }

    @Test("A next product is opened when nothing of the active one is on its way any more")
    func nextWaits() {
        for event in [Event.fetched(first), .failed(first, errorOfA, hasFrames: true)] {
            let machine = Machine()
            _ = machine.handle(.load(a, first))
            _ = machine.handle(.opened(first, contextOfA))
            #expect(machine.handle(.setNext(b, second)) == [])
            #expect(machine.handle(.fetched(second)) == [])
            #expect(machine.handle(event).last == .open(second, b, isNext: true))
            #expect(machine.handle(event).contains(.open(second, b, isNext: true)) == false)
        }
    }

    @Test("A next product that waits is opened when its turn comes", arguments: [Event.skipToNext, .ended(first)])
    func nextWaitsForItsTurn(event: Event) {
        let machine = Machine()
        _ = machine.handle(.load(a, first))
        _ = machine.handle(.opened(first, contextOfA))
        _ = machine.handle(.setNext(b, second))
        #expect(
            machine.handle(event) == [.close(first), .silence(releaseDevice: false), .open(second, b, isNext: true)])
        #expect(machine.handle(.fetched(second)) == [])
    }

    @Test("A next product that waits is dropped without having been opened")
    func nextDroppedWhileItWaits() {
        let machine = Machine()
        _ = machine.handle(.load(a, first))
        _ = machine.handle(.setNext(b, second))
        #expect(machine.handle(.setNext(c, third)) == [.follow(nil)])
        #expect(machine.handle(.fetched(first)) == [.open(third, c, isNext: true)])
        _ = machine.handle(.load(a, first))
        _ = machine.handle(.setNext(b, second))
        #expect(machine.handle(.reset) == [.close(first)] + ends)
    }

    @Test("No next product clears the one that was set", arguments: Situation.allCases)
    func clearNext(situation: Situation) {
        let expected: [Effect] = situation.hasNext ? [.follow(nil), .close(second)] : []
        #expect(situation.machine().handle(.setNext(nil, third)) == expected)
    }

    @Test("Skipping makes the next product active, playing or not as before", arguments: Situation.allCases)
    func skipToNext(situation: Situation) {
        let expected: [Effect] =
            switch situation {
            case .nextLoading:
                [.close(first), .silence(releaseDevice: false), .send(.playbackStateChanged(.stalled))]
            case .pausedNextLoading:
                [.close(first), .silence(releaseDevice: false)]
            case .nextReady, .failingNextReady:
                [.close(first), .follow(nil), .begin(second), .run(generation: 2), .watchStart(generation: 2), aToB]
            case .pausedNextReady:
                [.close(first), .follow(nil), .begin(second), aToB]
            case .nextFailed:
                [.close(first), .send(.error(errorOfB)), .close(second)] + ends
            default: []
            }
        #expect(situation.machine().handle(.skipToNext) == expected)
    }

    @Test("A next product that is ready follows, as soon as there is something to follow")
    func nextOpened() {
        #expect(Situation.nextLoading.machine().handle(.opened(second, contextOfB)) == [.follow(second)])
        #expect(Situation.pausedNextLoading.machine().handle(.opened(second, contextOfB)) == [.follow(second)])
        let machine = Situation.loading.machine()
        #expect(machine.handle(.setNext(b, second)) == [.open(second, b, isNext: true)])
        #expect(machine.handle(.opened(second, contextOfB)) == [])
        let transition = Effect.send(
            .mediaProductTransition(
                MediaProductTransition(previous: nil, active: a, context: contextOfA)))
        #expect(machine.handle(.opened(first, contextOfA)) == [.begin(first), .follow(second), transition])
    }

    @Test("A next product's failure is held back", arguments: [Situation.nextLoading, .nextReady, .pausedNextReady])
    func nextFailed(situation: Situation) {
        let machine = situation.machine()
        #expect(machine.handle(.failed(second, errorOfB, hasFrames: false)) == [.follow(nil)])
        #expect(machine.handle(.ended(first)) == [.send(.error(errorOfB)), .close(first), .close(second)] + ends)
    }

    @Test("A next product that fails in the middle plays up to there")
    func nextFailedInTheMiddle() {
        let machine = Situation.nextReady.machine()
        #expect(machine.handle(.failed(second, errorOfB, hasFrames: true)) == [.finish(second)])
        #expect(machine.handle(.heard(second)) == [.close(first), aToB])
        #expect(machine.handle(.ended(second)) == [.send(.error(errorOfB)), .close(second)] + ends)
    }

    @Test("Nothing follows a product that fails at its end")
    func nextOpenedWhileFailing() {
        let machine = Situation.failing.machine()
        #expect(machine.handle(.setNext(b, second)) == [.open(second, b, isNext: true)])
        #expect(machine.handle(.opened(second, contextOfB)) == [])
        #expect(machine.handle(.ended(first)) == [.send(.error(errorOfA)), .close(first), .close(second)] + ends)
    }

    @Test(
        "A next product that is heard is the active one; the state stays",
        arguments: [
            Situation.nextReady, .pausedNextReady,
        ])
    func heard(situation: Situation) {
        let machine = situation.machine()
        #expect(machine.handle(.heard(second)) == [.close(first), aToB])
        #expect(machine.value.currentItem == second)
        #expect(machine.value.nextItem == nil)
    }

    @Test("A product that was not ready when its turn came plays once it is")
    func lateNext() {
        let machine = Situation.nextLoading.machine()
        _ = machine.handle(.ended(first))
        #expect(machine.handle(.opened(second, contextOfB)) == [.begin(second), .run(generation: 2), aToB])
        #expect(machine.handle(.running(generation: 2)) == [.send(.playbackStateChanged(.playing))])
    }

    @Test("The transition to the next product has the session that it has begun last")
    func sessionOfNext() {
        let machine = Situation.nextReady.machine()
        #expect(machine.handle(.sessionRenewed(second, "new")) == [])
        let sessions = machine.handle(.heard(second)).compactMap { effect -> String? in
            if case .send(let message) = effect { message.context?.playbackSessionId } else { nil }
        }
        #expect(sessions == ["new"])
    }
}
