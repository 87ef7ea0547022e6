import ApplianceTestSupport
import Player
import Queue
import Testing

@testable import Appliance

@Suite("Which products were played to their end (docs/playback.md, 16.5)")
struct PlayedProductsTests {
    private static func entry(_ id: UInt32) -> QueueEntry {
        QueueEntry(id: EntryID(id), product: QueuedProduct(.track, "tonearm:track/\(id)"))
    }

    private static let error = PlayerError(.unexpected, code: "x", message: "x")

    @Test(
        "Ended by itself counts; failed, or left by a request, does not",
        arguments: [
            ([(.currentAnnounced, 1), (.advanced, 2)], ["1"]),
            ([(.currentAnnounced, 1), (.advanced, 1), (.currentAnnounced, 1), (.advanced, 2)], ["1", "1"]),
            ([(.currentAnnounced, 1), (.advanced, nil), (.ended, nil)], ["1"]),
            ([(.currentAnnounced, 1), (.failed(EntryID(1), Self.error), 1), (.advanced, 2)], []),
            ([(.currentAnnounced, 1), (.failed(EntryID(2), Self.error), 1), (.advanced, 3)], ["1"]),
            ([(.currentAnnounced, 1), (.queueChanged, 2), (.currentAnnounced, 2), (.rested, 2)], []),
            ([(.currentAnnounced, 1), (.queueChanged, 1), (.positionJumped, 1), (.advanced, 2)], ["1"]),
            ([(.advanced, 1), (.ended, nil)], []),
        ] as [([(QueueMessage, UInt32?)], [String])])
    func ended(_ messages: [(QueueMessage, UInt32?)], _ expected: [String]) {
        var played = PlayedProducts()
        let ended = messages.compactMap { played.handle($0, current: $1.map(Self.entry))?.productId }
        #expect(ended == expected.map { "tonearm:track/\($0)" })
    }
}
