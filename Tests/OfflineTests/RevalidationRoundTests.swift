import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("The times of re-validations (docs/playback.md, 16.6)")
struct RevalidationRoundTests {
    private static func item(_ id: Int, at time: Int64) -> OfflineItem {
        let product = ServiceAddress(.track, "\(id)")
        return OfflineItem(
            product: product, referenceId: "r\(id)",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high),
            received: .init(product: product, assetPresentation: .full, replayGain: .init()), fingerprint: [],
            content: [], sealedKey: [], count: 0, validity: OfflineValidity(revalidateAt: time))
    }

    private static func opened() -> RevalidationRound {
        var round = RevalidationRound()
        _ = round.handle(.gateChanged(isOpen: true), at: 0)
        return round
    }

    @Test("All that are due, page by page and one after the other; then a rest")
    func round() {
        var round = Self.opened()
        let (first, second) = (Self.item(1, at: 5), Self.item(2, at: 7))
        #expect(round.handle(.due, at: 0) == [.find(at: .min, product: "")])
        #expect(round.handle(.found([first, second]), at: 0) == [.validate(first)])
        #expect(round.handle(.due, at: 0) == [])
        #expect(round.handle(.ended(.valid), at: 0) == [.validate(second)])
        #expect(
            round.handle(.ended(.differs), at: 0)
                == [.downloadAdded(second.product), .find(at: 7, product: "tonearm:track/2")])
        #expect(round.handle(.found([]), at: 0) == [.rest])
        #expect(round.handle(.due, at: 0) == [.find(at: .min, product: "")])
    }

    @Test("A round waits for the network, stops without it, and begins again with it")
    func gate() {
        var round = RevalidationRound()
        #expect(round.handle(.due, at: 0) == [])
        #expect(round.handle(.gateChanged(isOpen: true), at: 0) == [.find(at: .min, product: "")])
        #expect(round.handle(.found([Self.item(1, at: 5)]), at: 0) == [.validate(Self.item(1, at: 5))])
        #expect(round.handle(.gateChanged(isOpen: false), at: 0) == [.stop])
        #expect(round.handle(.ended(.stopped), at: 0) == [])
        #expect(round.handle(.gateChanged(isOpen: true), at: 0) == [.find(at: .min, product: "")])
    }

    @Test("A network that is back before the stop was through")
    func short() {
        var round = Self.opened()
        _ = round.handle(.due, at: 0)
        _ = round.handle(.found([Self.item(1, at: 5)]), at: 0)
        #expect(round.handle(.gateChanged(isOpen: false), at: 0) == [.stop])
        #expect(round.handle(.gateChanged(isOpen: true), at: 0) == [])
        #expect(round.handle(.ended(.stopped), at: 0) == [.find(at: .min, product: "")])
    }

    @Test("A product whose new date has passed already is asked for once in a round")
    func onceARound() {
        var round = Self.opened()
        let item = Self.item(1, at: 5)
        _ = round.handle(.due, at: 0)
        #expect(round.handle(.found([item]), at: 0) == [.validate(item)])
        // It takes two hours. The service sends a date after the first one, which has passed too.
        let (late, again) = (2 * AskedProducts.interval, Self.item(1, at: 6))
        #expect(round.handle(.ended(.valid), at: late) == [.find(at: 5, product: "tonearm:track/1")])
        let other = Self.item(2, at: 7)
        #expect(round.handle(.found([again, other]), at: late) == [.validate(other)])
        #expect(
            round.handle(.ended(.differs), at: late)
                == [.downloadAdded(other.product), .find(at: 7, product: "tonearm:track/2")])
        #expect(round.handle(.found([again]), at: late) == [.find(at: 6, product: "tonearm:track/1")])
        #expect(round.handle(.found([]), at: late) == [.rest])
    }

    @Test(
        "Whatever the answer was, the next request is an hour later",
        arguments: [OfflineRevalidation.Outcome.valid, .differs, .skipped, .stopped])
    func onceAnHour(_ outcome: OfflineRevalidation.Outcome) {
        var round = Self.opened()
        let item = Self.item(1, at: 5)
        _ = round.handle(.due, at: 0)
        _ = round.handle(.found([item]), at: 0)
        // The round was not stopped.
        _ = round.handle(.ended(outcome), at: 0)
        for minute in 0...59 as ClosedRange<Int64> {
            let now = minute * 60_000_000_000
            _ = round.handle(.found([]), at: now)
            // The link also goes down and comes up.
            for isOpen in [false, true] { _ = round.handle(.gateChanged(isOpen: isOpen), at: now) }
            _ = round.handle(.due, at: now)
            #expect(round.handle(.found([item]), at: now) == [.find(at: 5, product: "tonearm:track/1")])
        }
        _ = round.handle(.found([]), at: AskedProducts.interval)
        _ = round.handle(.due, at: AskedProducts.interval)
        #expect(round.handle(.found([item]), at: AskedProducts.interval) == [.validate(item)])
    }

    @Test("A request that the link has ended is made again at once")
    func ended() {
        var round = Self.opened()
        let item = Self.item(1, at: 5)
        _ = round.handle(.due, at: 0)
        _ = round.handle(.found([item]), at: 0)
        #expect(round.handle(.gateChanged(isOpen: false), at: 1) == [.stop])
        #expect(round.handle(.ended(.stopped), at: 2) == [])
        #expect(round.handle(.gateChanged(isOpen: true), at: 3) == [.find(at: .min, product: "")])
        #expect(round.handle(.found([item]), at: 4) == [.validate(item)])
    }

    @Test("The remembered products have a limit, and at the limit nothing is asked")
    func limit() {
        var asked = AskedProducts()
        asked.beginRound(at: 0)
        for id in 0..<AskedProducts.limit { asked.insert(ServiceAddress(.track, "\(id)"), at: Int64(id)) }
        let other = ServiceAddress(.track, "other")
        #expect(asked.isFull && !asked.allows(other, at: 1))
        asked.beginRound(at: AskedProducts.interval)
        #expect(!asked.isFull && asked.allows(other, at: AskedProducts.interval))
        #expect(asked.allows(ServiceAddress(.track, "0"), at: AskedProducts.interval))
        #expect(!asked.allows(ServiceAddress(.track, "1"), at: AskedProducts.interval))
    }
}
