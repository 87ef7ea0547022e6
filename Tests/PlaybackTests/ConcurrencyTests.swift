import Foundation
import PCM
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Many threads")
struct ConcurrencyTests {
    @Test("Calls from four threads in any order leave the player whole", arguments: 1...4 as ClosedRange<UInt64>)
    func hammered(seed: UInt64) throws {
        let folder = try ScratchFolder()
        let tracks = [
            try Track("a", frames: 3000, in: folder), try Track("b", frames: 1, in: folder),
            try Track("c", frames: 20_000, rate: 16_000, in: folder), try Track("d", frames: 500, in: folder),
        ]
        let products =
            tracks.map(\.product)
            + [MediaProduct(productType: .track, productId: folder["missing"], referenceId: "missing")]
        let fixture = try PlayerFixture()
        fixture.card.playFreely()
        let (engine, configuration) = (fixture.engine, fixture.player.playbackEngineConfig)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SeededRandom(seed &* 1000 &+ UInt64(thread))
            for _ in 0..<1000 {
                switch Int.random(in: 0..<16, using: &random) {
                case 0, 1: engine.load(products.randomElement(using: &random)!)
                case 2, 3, 4: engine.setNext(products.randomElement(using: &random)!)
                case 5: engine.setNext(nil)
                case 6, 7, 8: engine.play()
                case 9: engine.pause()
                case 10, 11: engine.seek(Double.random(in: -0.1...0.5, using: &random))
                case 12: engine.skipToNext()
                case 13: if Int.random(in: 0..<8, using: &random) == 0 { engine.reset() }
                case 14: configuration.volume = Volume(percent: Int.random(in: 0...100, using: &random))
                default: _ = (engine.assetPosition, engine.mediaProduct, engine.playbackContext, engine.playbackState)
                }
            }
        }
        fixture.settle()
        check(fixture.log.messages)
        configuration.volume = .full
        engine.reset()
        try fixture.wait(for: .idle)
        fixture.settle()
        check(fixture.log.messages)
        #expect(engine.mediaProduct == nil && engine.playbackContext == nil && engine.assetPosition == nil)
        // The player works like a new one.
        let (recordings, messages) = (fixture.card.recordings.count, fixture.messages.count)
        engine.load(products[0])
        engine.play()
        try fixture.log.wait("another end") { $0.dropFirst(messages).contains { $0.line == "IDLE" } }
        #expect(fixture.messages.dropFirst(messages) == ["NOT_PLAYING", "- > a", "PLAYING", "a > -", "IDLE"])
        #expect(fixture.card.recordings.dropFirst(recordings).map(\.samples) == [tracks[0].samples])
    }

    /// Rules for every list of messages.
    private func check(_ messages: [PlaybackMessage]) {
        var state = PlaybackState.idle
        var active: MediaProduct?
        for (index, message) in messages.enumerated() {
            switch message {
            case .playbackStateChanged(let new):
                #expect(new != state)
                state = new
                if new == .idle { active = nil }
            case .mediaProductTransition(let transition):
                #expect(transition.previous == active)
                active = transition.active
            case .error(let error):
                #expect(error.mediaProduct != nil)
                #expect(index + 1 < messages.count && messages[index + 1] == .playbackStateChanged(.idle))
            default: break
            }
        }
    }

    @Test("The properties have the values of the messages")
    func properties() throws {
        let folder = try ScratchFolder()
        let tracks = try ["a", "b", "c"].map { try Track($0, frames: 2000, in: folder) }
        let fixture = try PlayerFixture()
        let engine = fixture.engine
        let mismatches = Recorder<String>()
        engine.bus.subscribe { message in
            switch message {
            case .playbackStateChanged(let state):
                if engine.playbackState != state { mismatches.record(message.line) }
                if state == .idle, engine.mediaProduct != nil { mismatches.record("a product in IDLE") }
            case .mediaProductTransition(let transition):
                if engine.mediaProduct != transition.active { mismatches.record(message.line) }
                if engine.playbackContext != transition.context { mismatches.record(message.line) }
            default: break
            }
        }
        try fixture.play(tracks.map { ($0.product, $0.frames) })
        #expect(mismatches.elements.isEmpty)
    }

    @Test("A subscriber may call the player")
    func callsFromSubscriber() throws {
        let folder = try ScratchFolder()
        let tracks = try ["a", "b"].map { try Track($0, frames: 2000, in: folder) }
        let fixture = try PlayerFixture()
        let engine = fixture.engine
        engine.bus.subscribe { message in
            switch message.line {
            case "- > a": engine.setNext(tracks[1].product)
            case "a > b": engine.pause()
            default: break
            }
        }
        fixture.card.playFreely()
        engine.load(tracks[0].product)
        engine.play()
        try fixture.wait(forTransitions: 2)
        try fixture.log.wait("an end of it") { ["NOT_PLAYING", "IDLE"].contains($0.last?.line) && $0.count > 3 }
    }

    @Test("A subscription that was ended hears nothing more")
    func unsubscribed() throws {
        let fixture = try PlayerFixture(source: ScriptedSource([]))
        let heard = Recorder<String>()
        let subscription = fixture.engine.bus.subscribe { heard.record($0.line) }
        fixture.engine.load(a)
        try fixture.wait(for: .idle)
        fixture.engine.bus.cancel(subscription)
        fixture.engine.load(a)
        try fixture.log.wait("the second error") { $0.count(where: { $0.error != nil }) == 2 }
        #expect(heard.elements == ["NOT_PLAYING", "error x1 (a)", "IDLE"])
    }
}

@Suite("Shutting down")
struct ShutDownTests {
    @Test(
        "Frees the player, its source and its decoders, in every state",
        arguments: [
            "idle", "loading", "paused", "playing", "seeking", "stalled", "next",
        ])
    func freed(doing: String) throws {
        let recordings = [ScriptedRecording("a", frames: 80_000), ScriptedRecording("b", frames: 80_000)]
        weak var source: ScriptedSource?
        weak var engine: PlaybackEngine?
        do {
            let scripted = ScriptedSource(recordings)
            let fixture = try PlayerFixture(source: scripted)
            (source, engine) = (scripted, fixture.engine)
            if doing != "idle" { fixture.engine.load(recordings[0].product) }
            switch doing {
            case "paused": try fixture.wait(forTransitions: 1)
            case "playing":
                fixture.engine.play()
                try fixture.wait(for: .playing)
            case "seeking":
                try fixture.wait(forTransitions: 1)
                recordings[0].holdSeeks()
                fixture.engine.play()
                fixture.engine.seek(1)
                fixture.settle()
            case "stalled":
                fixture.card.unplug()
                fixture.engine.play()
                try fixture.wait(for: .stalled)
            case "next":
                fixture.engine.setNext(recordings[1].product)
                try fixture.waitForNext()
            default: break
            }
        }
        expectSoon("the end of the player") {
            source == nil && engine == nil && recordings.allSatisfy { $0.decoderCount == 0 }
        }
        #expect(source == nil)
        #expect(engine == nil)
        #expect(recordings.map(\.decoderCount) == [0, 0])
    }

    @Test("Frees the device")
    func device() throws {
        let recording = ScriptedRecording("a", frames: 80_000)
        let fixture = try PlayerFixture(source: ScriptedSource([recording]))
        let card = fixture.card
        try fixture.play(recording.product)
        #expect(card.isOpen)
        fixture.player.shutDown()
        #expect(!card.isOpen)
    }
}
