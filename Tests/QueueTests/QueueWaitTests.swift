import Output
import Platform
import Player
import Testing

@testable import Queue
@testable import CutProgram

/// The rows are written as those of `QueueStateMachineTests`.
@Suite("The queue waits for a medium or a service")
struct QueueWaitTests {
    private typealias Play = QueuePlay

    // MARK: A missing medium

    @Test("A missing medium is waited for; then the others have their turn, and when they fail it is retried for ever")
    func medium() throws {
        var play = try Play("ab")
        _ = play.handle(.resume(position: 5, playing: true))
        _ = play.handle(.play)
        #expect(play.failed("a", 1, failure: .ofMedium) == ["failed a", "medium missing", "rested", "wake 2"])
        #expect(play.machine.position(nil) == 5)
        var serial: UInt64 = 3
        for _ in 2...15 {
            #expect(play.handle(.woken).prefix(2) == ["load a.\(serial)", "seek 5.0 at once"])
            #expect(play.failed("a", serial, failure: .ofMedium).first?.hasPrefix("wake") == true)
            serial += 2
        }
        _ = play.handle(.woken)
        #expect(play.failed("a", serial, failure: .ofMedium).first == "load b.\(serial + 2)")
        #expect(play.failed("b", serial + 2) == ["failed b", "wake 10", "advanced"])
        #expect(play.handle(.woken).first == "load a.\(serial + 3)")
        #expect(play.began("a", serial + 3) == ["cancel wake", "medium back", "currentAnnounced"])
    }

    @Test("A command does not wait for a medium")
    func commandAndMedium() throws {
        var play = try Play("ab", rules: .command)
        _ = play.handle(.play)
        #expect(play.failed("a", 1, failure: .ofMedium).first == "failed a")
        #expect(play.machine.waitsFor == nil)
    }

    // MARK: A service that is away

    @Test("A service that is away is waited for at the position, with growing delays, and the rest of the queue stays")
    func service() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        let lost = play.failed("a", 1, failure: .ofService, at: 7)
        #expect(lost == ["failed a", "service away", "rested", "wake 1"])
        #expect(play.machine.position(nil) == 7 && play.machine.waitsFor == .service && play.machine.wantsToPlay)
        var (serial, delays): (UInt64, [String]) = (3, [])
        for _ in 2...9 {
            #expect(play.handle(.woken).prefix(2) == ["load a.\(serial)", "seek 7.0 at once"])
            let effects = play.failed("a", serial, failure: .ofService)
            #expect(effects.first == "service away")
            delays += effects.dropFirst()
            serial += 2
        }
        #expect(delays == ["wake 2", "wake 4", "wake 8", "wake 16", "wake 32", "wake 60", "wake 60", "wake 60"])
        _ = play.handle(.woken)
        #expect(play.began("a", serial) == ["cancel wake", "service back", "currentAnnounced"])
        #expect(play.machine.waitsFor == nil)
    }

    @Test("The next entry whose service is away is waited for when the one before has ended")
    func serviceOfNext() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        #expect(
            play.failed("b", 2, failure: .ofService, at: 90)
                == ["advanced", "failed b", "service away", "rested", "wake 1"])
        #expect(play.machine.position(nil) == 0 && play.machine.contents.current == play.machine.contents.id("b"))
    }

    @Test("A refusal of the service ends the wait, and the next entry follows")
    func serviceRefuses() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.failed("a", 1, failure: .ofService)
        _ = play.handle(.woken)
        #expect(
            play.failed("a", 3) == ["cancel wake", "service back", "failed a", "load b.5", "play", "advanced"])
    }

    @Test("Another link ends the wait at once, and the delays start over")
    func serviceAndLink() throws {
        var play = try Play("a")
        #expect(play.handle(.linkChanged) == [])
        _ = play.handle(.play)
        _ = play.began("a", 1)
        _ = play.failed("a", 1, failure: .ofService, at: 3)
        _ = play.handle(.woken)
        _ = play.failed("a", 2, failure: .ofService, at: 3)
        _ = play.handle(.woken)
        #expect(play.handle(.linkChanged) == [], "it is being tried")
        #expect(play.failed("a", 3, failure: .ofService, at: 3) == ["service away", "wake 1"])
        #expect(play.handle(.linkChanged) == ["cancel wake", "load a.4", "seek 3.0 at once", "play"])
        #expect(play.failed("a", 4, failure: .ofService) == ["service away", "wake 1"])
    }

    @Test("After long, the next entry has a turn: the service may fail for one product alone")
    func serviceOfOneEntry() throws {
        var play = try Play("abc")
        _ = play.handle(.play)
        _ = play.failed("a", 1, failure: .ofService)
        var serial: UInt64 = 3
        for _ in 2...15 {
            _ = play.handle(.woken)
            #expect(play.failed("a", serial, failure: .ofService).last?.hasPrefix("wake") == true)
            serial += 2
        }
        _ = play.handle(.woken)
        #expect(play.failed("a", serial, failure: .ofService).dropFirst().first == "load b.\(serial + 2)")
        // The service is away for all entries: the first one stays the current one.
        #expect(play.failed("b", serial + 2, failure: .ofService) == ["wake 60", "advanced"])
        #expect(play.machine.contents.current == play.machine.contents.id("a"))
        // The service answers for the other entries.
        serial += 4
        for _ in 1...15 {
            _ = play.handle(.woken)
            _ = play.failed("a", serial, failure: .ofService)
            serial += 2
        }
        #expect(play.machine.contents.current == play.machine.contents.id("b"))
        #expect(play.handle(.engineIs(.playing)).contains("service back"))
    }

    @Test("A login that is refused is no failure of the entry; the service's own reasons are")
    func login() {
        let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")
        func failure(_ cause: PlayerError.Cause) -> EntryFailure {
            EntryFailure(PlayerError(.notAllowed, cause, message: "", mediaProduct: product))
        }
        for subStatus in [nil, 0, 2001, 6001, 11003, 3999, 5000] {
            #expect(failure(.service(status: 401, subStatus: subStatus)) == .ofService)
            #expect(failure(.service(status: 403, subStatus: subStatus)) == .ofEntry)
        }
        for subStatus in [4000, 4005, 4006, 4010, 4032, 4033, 4035, 4999] {
            #expect(failure(.service(status: 401, subStatus: subStatus)) == .ofEntry)
        }
        #expect(failure(.media(.source(.status(401)))) == .ofService)
        #expect(failure(.media(.source(.status(403)))) == .ofEntry)
    }

    @Test("A command does not wait for a service")
    func commandAndService() throws {
        var play = try Play("ab", rules: .command)
        _ = play.handle(.play)
        #expect(play.failed("a", 1, failure: .ofService).first == "failed a")
    }

    @Test("An entry without content is skipped; when none of the rest has any, the first one is waited for")
    func content() throws {
        var play = try Play("abcd")
        _ = play.handle(.play)
        #expect(
            play.failed("a", 1, failure: .ofContent, at: 9)
                == ["failed a", "load b.3", "next c.4", "play", "advanced"])
        _ = play.began("b", 3)
        _ = play.handle(.engineIs(.playing))
        #expect(play.failed("c", 4, failure: .ofContent).contains("load d.5"))
        #expect(
            play.failed("d", 5, failure: .ofContent)
                == ["failed d", "service away", "rested", "wake 1", "advanced"])
        #expect(play.machine.contents.current == play.machine.contents.id("c"))
        #expect(play.handle(.woken).first == "load c.6")
        #expect(play.failed("c", 6, failure: .ofContent) == ["service away", "wake 2"])
    }

    /// Fails an entry until the others are tried.
    /// - Parameter serial: of its next request; of the next one afterwards.
    private static func exhaust(
        _ play: inout Play, _ letter: Character, _ failure: EntryFailure, from serial: inout UInt64
    ) {
        let id = play.machine.contents.id(letter)
        for _ in 0..<40 where play.machine.contents.current == id {
            _ = play.handle(.woken)
            let next = play.handle(
                .failed(PlaybackRequest(id, serial: serial), PlayerError(.unexpected, code: "x", message: ""), failure)
            ).first { $0.hasPrefix("load") }
            serial += 2
            if let number = next?.split(separator: ".").last.flatMap({ UInt64($0) }) { serial = number }
        }
    }

    @Test("Three in a row without content are enough: the rest of a long queue is not tried")
    func filter() throws {
        var play = try Play("abcdefgh")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        _ = play.failed("a", 1, failure: .ofContent, at: 9)
        _ = play.failed("b", 3, failure: .ofContent)
        #expect(play.failed("c", 5, failure: .ofContent).suffix(4) == ["service away", "rested", "wake 1", "advanced"])
        #expect(play.machine.contents.current == play.machine.contents.id("a") && play.machine.position(nil) == 9)
        // The filter is gone, and only a is really missing: the others are tried.
        var serial: UInt64 = 7
        Self.exhaust(&play, "a", .ofContent, from: &serial)
        #expect(play.machine.contents.current == play.machine.contents.id("b"))
    }

    @Test("An entry that is waited for and removed takes its wait with it")
    func removedInWait() throws {
        var play = try Play("abc")
        _ = play.handle(.play)
        var serial: UInt64 = 1
        Self.exhaust(&play, "a", .ofService, from: &serial)
        #expect(play.machine.contents.current == play.machine.contents.id("b"))
        let removed = play.machine.contents.id("a")
        let effects = try play.edit { queue in queue.remove([removed]) }
        #expect(effects.contains("service back") && play.machine.waitsFor == nil)
        // The queue waits for the next entry, without counting its failure.
        #expect(play.failed("b", serial, failure: .ofService).suffix(3) == ["service away", "rested", "wake 1"])
    }

    @Test("The others have their turn again and again: what they failed for may be over", arguments: [true, false])
    func turns(isMedium: Bool) throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        var serial: UInt64 = 1
        let failure = isMedium ? EntryFailure.ofMedium : .ofService
        for _ in 0..<3 {
            Self.exhaust(&play, "a", failure, from: &serial)
            #expect(play.machine.contents.current == play.machine.contents.id("b"))
            let back = play.failed("b", serial, failure: .ofService)
            #expect(back.contains { $0.hasPrefix("wake") } && back.contains("advanced"))
            #expect(play.machine.contents.current == play.machine.contents.id("a"))
            serial += 1
        }
    }

    @Test("A paused queue asks nobody; play does at once")
    func pausedInWait() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.failed("a", 1, failure: .ofService)
        #expect(play.handle(.pause) == ["cancel wake", "queueChanged", "rested"])
        #expect(play.handle(.linkChanged) == [])
        #expect(play.handle(.play).first == "load a.3")
    }

    @Test("The last entry alone without content is waited for at its position, since no other one shows the cause")
    func lastContent() throws {
        var play = try Play("ab")
        _ = play.handle(.play)
        _ = play.began("a", 1)
        _ = play.began("b", 2)
        #expect(
            play.failed("b", 2, failure: .ofContent, at: 9)
                == ["failed b", "service away", "rested", "wake 1", "advanced"])
        #expect(play.machine.contents.current == play.machine.contents.id("b") && play.machine.wantsToPlay)
        #expect(play.handle(.woken) == ["load b.3", "seek 9.0 at once", "play"])
        #expect(play.failed("b", 3, failure: .ofContent) == ["service away", "wake 2"])
        _ = play.handle(.woken)
        #expect(play.began("b", 4) == ["cancel wake", "service back", "currentAnnounced"])
    }

    @Test(
        "Whatever is away, with one, two or many entries: one of them stays, and plays by itself when it is back",
        arguments: [1, 2, 3, 8], [EntryFailure.ofService, .ofContent])
    func stays(count: Int, failure: EntryFailure) throws {
        let modes: [(Bool, RepeatMode)] = [(false, .off), (true, .off), (true, .all), (false, .one)]
        for (isPlaying, repeating) in modes {
            var play = try Play(String("abcdefgh".prefix(count)), repeating: repeating)
            _ = play.handle(.play)
            var serial: UInt64 = 1
            if isPlaying {
                _ = play.began("a", 1)
                _ = play.handle(.engineIs(.playing))
            }
            // Each load fails, for hours.
            var waits = 0
            for step in 0..<200 {
                guard let loaded = play.machine.requests.loaded else {
                    waits += 1
                    #expect(play.machine.waitsFor == .service && play.machine.wantsToPlay, "\(step)")
                    _ = play.handle(.woken)
                    continue
                }
                serial = loaded.serial
                _ = play.handle(
                    .failed(loaded, PlayerError(.unexpected, code: "x", message: ""), failure),
                    QueueStateMachine.Heard(position: step == 0 && isPlaying ? 9 : nil))
                #expect(play.machine.contents.current != nil, "\(step)")
            }
            #expect(waits > 60, "\(waits)")
            if play.machine.requests.loaded == nil { _ = play.handle(.woken) }
            let last = try #require(play.machine.requests.loaded)
            #expect(last.serial > serial)
            _ = play.handle(.began(last, duration: 100))
            _ = play.handle(.engineIs(.playing))
            #expect(play.machine.waitsFor == nil && play.machine.contents.current == last.entry)
        }
    }
}
