import OutputTestSupport
import Player
import QueueTestSupport
import Testing

@testable import Queue

@Suite("Many edits of the queue that are one change")
struct GatheredEditsTests {
    @Test("The engine and the observers learn of gathered edits once, before anything else happens")
    func once() throws {
        let (tracks, fixture) = (try Tracks(), try ConductorFixture())
        defer { fixture.shutDown() }
        let products = try tracks.make("abc", frames: 4000)
        func changes() -> Int { fixture.events.filter { $0 == .queueChanged }.count }
        fixture.perform { conductor in
            conductor.gather {
                for _ in 0..<1000 { try! conductor.edit { queue throws(PlayQueueError) in try queue.add(products) } }
            }
            // Other parts may read meanwhile.
            #expect(conductor.contents.count == 3000)
        }
        #expect(changes() == 0)
        fixture.perform { conductor in
            conductor.gather { conductor.clear() }
            conductor.gather { try! conductor.edit { queue throws(PlayQueueError) in try queue.add(products) } }
            conductor.settle()
            conductor.settle()
        }
        #expect(changes() == 1)
        // A request carries them out before itself.
        fixture.perform { conductor in
            conductor.gather {
                try! conductor.edit { queue throws(PlayQueueError) in queue.remove([queue.playOrder[0]]) }
            }
            conductor.play()
        }
        #expect(changes() == 3)
        fixture.card.play(100)
        #expect(fixture.perform { $0.contents.current } == fixture.perform { $0.contents.playOrder.first })
    }

    @Test("Only edits that make another entry current are carried out at the end of a turn")
    func currentEntry() throws {
        let (tracks, fixture) = (try Tracks(), try ConductorFixture())
        defer { fixture.shutDown() }
        let products = try tracks.make("abc", frames: 4000)
        fixture.perform { try! $0.set(products, playing: true) }
        fixture.card.play(100)
        func changes() -> Int { fixture.events.filter { $0 == .queueChanged }.count }
        // Counted in the same turn: an event of the engine, which plays, carries the edits out as well.
        func changes(removing index: Int) -> Int {
            fixture.perform { conductor in
                let before = changes()
                conductor.gather {
                    try! conductor.edit { queue throws(PlayQueueError) in queue.remove([queue.playOrder[index]]) }
                }
                conductor.settleCurrent()
                return changes() - before
            }
        }
        #expect(changes(removing: 2) == 0)
        #expect(changes(removing: 0) == 1)
        // The card may have played more of the removed entry before the engine has loaded the other one.
        fixture.settle()
        fixture.card.playFreely()
        fixture.waitForEnd()
        #expect(fixture.card.beginnings == "a0 b0" && fixture.card.heard.hasSuffix(sound("b")))
    }
}
