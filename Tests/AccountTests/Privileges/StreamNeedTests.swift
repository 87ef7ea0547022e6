import Testing

@testable import Playback
@testable import Player

/// docs/playback.md, 20.1 and 20.3.
@Suite("The need of a stream")
struct StreamNeedTests {
    private static let product = MediaProduct(productType: .track, productId: "tonearm:track/1", referenceId: "1")
    private static let item = ItemID(number: 1)

    /// The engine with one item.
    private static func moment(wantsToPlay: Bool, isStreamed: Bool) -> PlaybackMoment {
        var machine = PlaybackStateMachine()
        _ = machine.handle(.load(product, item))
        if wantsToPlay { _ = machine.handle(.play) }
        return PlaybackMoment(machine, position: nil, stream: nil, streamStart: nil, isStreamed: isStreamed)
    }

    @Test("begins when a stream should play, and ends with a pause; only changes are reported")
    func stream() {
        var reports: [StreamNeed.Change] = []
        let need = StreamNeed { reports.append($0) }
        need.look(Self.moment(wantsToPlay: false, isStreamed: false))
        need.look(Self.moment(wantsToPlay: false, isStreamed: true))
        #expect(reports.isEmpty)
        need.pressed()
        need.look(Self.moment(wantsToPlay: true, isStreamed: true))
        need.look(Self.moment(wantsToPlay: true, isStreamed: true))
        #expect(reports == [.pressed, .needed(true)])
        need.look(Self.moment(wantsToPlay: false, isStreamed: true))
        #expect(reports == [.pressed, .needed(true), .needed(false)])
    }

    @Test("begins when the product turns out to be a stream after play was pressed")
    func lateStream() {
        var reports: [StreamNeed.Change] = []
        let need = StreamNeed { reports.append($0) }
        need.pressed()
        need.look(Self.moment(wantsToPlay: true, isStreamed: false))
        #expect(reports == [.pressed])
        need.look(Self.moment(wantsToPlay: true, isStreamed: true))
        #expect(reports == [.pressed, .needed(true)])
    }

    @Test("A revocation pauses a product that plays, with the other device's name, and nothing else")
    func revocation() {
        typealias Effect = PlaybackStateMachine.Effect
        var machine = PlaybackStateMachine()
        #expect(machine.handle(.privilegesRevoked(otherDevice: "Kitchen")).isEmpty)
        _ = machine.handle(.load(Self.product, Self.item))
        #expect(machine.handle(.privilegesRevoked(otherDevice: "Kitchen")).isEmpty)
        _ = machine.handle(.play)
        _ = machine.handle(.running(generation: 1))
        #expect(machine.playbackState == .playing)
        let expected: [Effect] = [
            .hold, .send(.streamingPrivilegesRevoked(otherDevice: "Kitchen")),
            .send(.playbackStateChanged(.notPlaying)),
        ]
        #expect(machine.handle(.privilegesRevoked(otherDevice: "Kitchen")) == expected)
        #expect(machine.handle(.privilegesRevoked(otherDevice: "Kitchen")).isEmpty)
        #expect(machine.currentItem == Self.item)
        _ = machine.handle(.play)
        #expect(machine.wantsToPlay)
    }
}
