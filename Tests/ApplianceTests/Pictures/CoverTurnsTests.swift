import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Player

@Suite("The fetches of covers, and what is known of them")
struct CoverTurnsTests {
    private static func isFailure(_ outcome: CoverOutcome?, _ failure: CoverFailure) -> Bool {
        if case .failed(failure) = outcome { true } else { false }
    }

    @Test("One is fetched at a time, in the order of the requests, and once for all clients that wait")
    func order() {
        var turns = CoverTurns()
        for product in ["a", "a", "b", "a"] { turns.arrive(product) }
        #expect(turns.waiting == 4)
        #expect(turns.isReady("a") && !turns.isReady("b") && !turns.begin("b"))
        #expect(turns.begin("a") && !turns.begin("a") && !turns.isReady("a") && !turns.isReady("b"))
        turns.finish("a", .failed(.slow), at: 0)
        #expect(turns.isReady("a") && turns.isReady("b") && !turns.begin("a"))
        for _ in 1...3 {
            let outcome = turns.leave("a")
            #expect(Self.isFailure(outcome, .slow))
        }
        #expect(turns.leave("a") == nil && turns.waiting == 1)
        #expect(turns.begin("b") == true)
    }

    @Test("A client that waits for too long leaves without an outcome, and the next one is not held up")
    func late() {
        var turns = CoverTurns()
        turns.arrive("a")
        turns.arrive("b")
        #expect(turns.leave("a") == nil && turns.isReady("b") && turns.begin("b"))
    }

    @Test("The end of the server: those that wait get it at once, and one that is fetched gets its own end")
    func end() {
        var turns = CoverTurns()
        for product in ["a", "b"] { turns.arrive(product) }
        #expect(turns.begin("a") == true)
        turns.end()
        turns.arrive("c")
        for product in ["b", "c"] {
            #expect(turns.isReady(product) && !turns.begin(product))
            let outcome = turns.leave(product)
            #expect(Self.isFailure(outcome, .away("the daemon ends")))
        }
        #expect(!turns.isReady("a"))
        turns.finish("a", .failed(.away("the player ends")), at: 0)
        #expect(turns.isReady("a") && turns.failure(of: "a", at: 1) == nil)
    }

    @Test(
        "A failure that lasts is remembered for ten minutes, another one for five seconds",
        arguments: [
            (CoverFailure.none, 600), (.unusable("x"), 600), (.slow, 600), (.away("x"), 5),
        ] as [(CoverFailure, Int64)])
    func memory(failure: CoverFailure, seconds: Int64) {
        var turns = CoverTurns()
        turns.arrive("a")
        _ = turns.begin("a")
        turns.finish("a", .failed(failure), at: 7)
        #expect(turns.failure(of: "a", at: 7) == failure && turns.failure(of: "b", at: 7) == nil)
        #expect(turns.failure(of: "a", at: 6 + seconds * 1_000_000_000) == failure)
        #expect(turns.failure(of: "a", at: 7 + seconds * 1_000_000_000) == nil)
    }

    @Test("The memory of failures is bounded")
    func manyFailures() {
        var turns = CoverTurns()
        for number in 0...CoverTurns.mostFailures { turns.finish("\(number)", .failed(.none), at: 0) }
        #expect(turns.failure(of: "0", at: 1) == nil && turns.failure(of: "1", at: 1) == CoverFailure.none)
        #expect(turns.failure(of: "\(CoverTurns.mostFailures)", at: 1) == CoverFailure.none)
    }

    @Test("The picture of a product is known for a day, also after a restart; the older half makes room")
    func known() throws {
        let folder = try ScratchFolder()
        func name(_ number: UInt64) -> PictureIdentity { PictureIdentity(high: number, low: 1) }
        let path = folder["covers"]
        let known = KnownCovers(path, most: 4)
        #expect(known.picture(of: name(1)) == nil)
        for number in 1...4 as ClosedRange<UInt64> {
            known.set(name(100 + number), of: name(number))
            let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: Double(number) - 90)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: "\(path)/\(name(number).text)")
        }
        let later = KnownCovers(path, most: 4)
        let found = try #require(later.picture(of: name(2)))
        #expect(found.picture == name(102) && found.isRecent)
        for age in [-60.0, 86_401] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: "\(path)/\(name(4).text)")
            #expect(try #require(later.picture(of: name(4))).isRecent == false)
        }
        // One that is there takes no more room.
        later.set(name(200), of: name(4))
        #expect(later.picture(of: name(1)) != nil && later.picture(of: name(4))?.picture == name(200))
        later.set(name(105), of: name(5))
        let left = (1...5 as ClosedRange<UInt64>).filter { later.picture(of: name($0)) != nil }
        #expect(left == [3, 4, 5])
        later.remove(name(3))
        #expect(later.picture(of: name(3)) == nil)
        try Data("no identity".utf8).write(to: URL(fileURLWithPath: "\(path)/\(name(4).text)"))
        #expect(later.picture(of: name(4)) == nil)
    }
}
