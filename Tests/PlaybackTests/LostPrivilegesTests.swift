import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Playback

@Suite("The right to play is lost to another device (docs/playback.md, 20.4)")
struct LostPrivilegesTests {
    typealias Event = PlaybackStateMachine.Event
    typealias Effect = PlaybackStateMachine.Effect

    /// Another device has taken over the right to play.
    private var revoked: PlayerError {
        PlayerError(.refused(ServiceRefusal(status: 403, body: Array("{\"subStatus\": 4006}".utf8))), a)
    }

    @Test("A product whose right was taken over while it loads stays active, and is opened again by play")
    func privilegesLost() {
        let machine = Situation.loadingToPlay.machine()
        let message = Effect.send(.streamingPrivilegesRevoked(otherDevice: nil))
        #expect(machine.handle(.failed(first, revoked, hasFrames: false)) == [.close(first), message])
        #expect(machine.value.playbackState == .notPlaying)
        #expect(machine.handle(.pause) == [])
        #expect(machine.handle(.play) == [.open(first, a), .watchStart(generation: 2)])
        #expect(machine.handle(.opened(first, contextOfA)).contains(.run(generation: 2)))
    }

    @Test("A product whose right is taken over in the middle is heard up to there, and is opened again by play")
    func privilegesLostInTheMiddle() {
        let machine = Situation.nextReady.machine()
        #expect(machine.handle(.failed(first, revoked, hasFrames: true)) == [.follow(nil), .finish(first)])
        #expect(
            machine.handle(.ended(first)) == [
                .close(first), .silence(releaseDevice: false), .send(.streamingPrivilegesRevoked(otherDevice: nil)),
                .send(.playbackStateChanged(.notPlaying)),
            ])
        #expect(machine.handle(.play) == [.open(first, a), .watchStart(generation: 2)])
        let effects = machine.handle(.opened(first, contextOfA))
        #expect(effects.contains(.run(generation: 2)) && effects.contains(.follow(second)))
    }

    @Test("A product whose right is taken over at a seek, before anything was decoded there")
    func privilegesLostAtSeek() {
        let machine = Situation.seeking.machine()
        #expect(
            machine.handle(.failed(first, revoked, hasFrames: false)) == [
                .close(first), .silence(releaseDevice: false), .send(.streamingPrivilegesRevoked(otherDevice: nil)),
                .send(.playbackStateChanged(.notPlaying)),
            ])
        #expect(machine.handle(.play) == [.open(first, a), .watchStart(generation: 3)])
        #expect(machine.handle(.opened(first, contextOfA)).contains(.run(generation: 3)))
    }

    @Test("A product whose right was taken over continues where it was, or where a seek has moved it")
    func privilegesLostResumes() {
        for seek in [nil, 7.5] as [Double?] {
            let machine = Situation.playing.machine()
            #expect(machine.handle(.failed(first, revoked, hasFrames: false), heard: 4.25).first == .close(first))
            if let seek { #expect(machine.handle(.seek(seconds: seek)) == [.seek(first, seconds: seek)]) }
            #expect(
                machine.handle(.play) == [
                    .open(first, a), .seek(first, seconds: seek ?? 4.25), .watchStart(generation: 2),
                ])
            #expect(machine.handle(.opened(first, contextOfA)).contains(.run(generation: 2)))
        }
    }

    @Test("A product whose right was taken over before it was open does not continue at the position of another one")
    func privilegesLostBeforeOpening() {
        let machine = Situation.playing.machine()
        _ = machine.handle(.load(b, second))
        #expect(machine.handle(.failed(second, revoked, hasFrames: false), heard: 4.25).first == .close(second))
        #expect(machine.handle(.play) == [.open(second, b), .watchStart(generation: 2)])
    }

    @Test("A next product that waits is opened when the right to play the active one is lost, which keeps its position")
    func privilegesLostBeforeNext() {
        let machine = Machine()
        for event in [Event.load(a, first), .opened(first, contextOfA), .setNext(b, second)] {
            _ = machine.handle(event)
        }
        let effects = machine.handle(.failed(first, revoked, hasFrames: false), heard: 4.25)
        #expect(effects.last == .open(second, b, isNext: true))
        #expect(machine.handle(.play).starts(with: [.open(first, a), .seek(first, seconds: 4.25)]))
    }

    @Test(
        "A next product whose right was taken over says so when its turn comes",
        arguments: [Event.skipToNext, .ended(first)])
    func privilegesOfNextLost(event: Event) {
        let machine = Situation.nextLoading.machine()
        #expect(machine.handle(.failed(second, revoked, hasFrames: false)) == [.follow(nil)])
        let message = Effect.send(.streamingPrivilegesRevoked(otherDevice: nil))
        #expect(
            machine.handle(event) == [
                .close(first), .silence(releaseDevice: false), .close(second), message,
                .send(.playbackStateChanged(.notPlaying)),
            ])
        #expect(machine.handle(.play).first == .open(second, b))
    }
}
