import Database
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("Automatic downloads: which are chosen, and which are dropped first (docs/playback.md, 16.5)")
struct OfflineChoiceTests {
    private static let day: Int64 = 86_400
    private static let now = 1000 * day

    private let database: Database
    private let rows: OfflineRows

    init() throws {
        database = try Database.inMemory()
        try database.migrate([Offlining.schema])
        rows = OfflineRows(database)
    }

    private func product(_ id: Int) -> ServiceAddress { ServiceAddress(.track, "\(id)") }

    /// Stores an offline copy that was played so often, the last time so many days before now.
    private func keep(_ id: Int, daysAgo: Int64, plays: Int, isAutomatic: Bool = true) throws {
        let item = OfflineItem(
            product: product(id), referenceId: "r",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high),
            received: .init(product: product(id), assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: [UInt8](repeating: UInt8(id), count: 16), sealedKey: [], count: 1, validity: OfflineValidity(),
            isAutomatic: isAutomatic)
        let time = Self.now - daysAgo * Self.day
        #expect(try rows.keep(item, now: time) == nil)
        for _ in 0..<plays { try rows.played(product(id), now: time) }
    }

    /// The products in the order in which they are dropped.
    private func dropped() throws -> [String] {
        var ids: [String] = []
        while let product = try rows.leastWorthKeeping(now: Self.now) {
            ids.append(product.id)
            #expect(try rows.remove(product) != nil)
        }
        return ids
    }

    @Test("By 0.7 of how recently it was played, and 0.3 of the logarithm of how often")
    func score() throws {
        // Neither the order of the last time nor that of the counts.
        try keep(1, daysAgo: 60, plays: 1)  // 0.233
        try keep(2, daysAgo: 90, plays: 10)  // 0.475
        try keep(3, daysAgo: 0, plays: 0)  // 0.700
        try keep(4, daysAgo: 120, plays: 100)  // 0.740
        try keep(5, daysAgo: 30, plays: 2)  // 0.440
        #expect(try dropped() == ["1", "5", "2", "3", "4"])
    }

    @Test("A time in the future counts as now, and many plays outweigh a week")
    func limits() throws {
        try keep(1, daysAgo: -400, plays: 1)  // 0.700
        try keep(2, daysAgo: 7, plays: 10)  // 0.868
        try keep(3, daysAgo: 1, plays: 1)  // 0.677
        #expect(try dropped() == ["3", "1", "2"])
    }

    @Test("A copy that plays while the time is unknown was played now")
    func unknownTime() throws {
        try keep(1, daysAgo: 10, plays: 1)
        try keep(2, daysAgo: 40, plays: 1)
        try keep(3, daysAgo: 60, plays: 1)
        try rows.played(product(3), now: nil)
        let item = OfflineItem(
            product: product(4), referenceId: "r",
            request: OfflineRequest(audioQuality: .lossless, videoQuality: .high),
            received: .init(product: product(4), assetPresentation: .full, replayGain: .init()), fingerprint: [1],
            content: [UInt8](repeating: 4, count: 16), sealedKey: [], count: 1, validity: OfflineValidity(),
            isAutomatic: true)
        #expect(try rows.keep(item, now: nil) == nil)
        #expect(try rows.leastWorthKeeping(now: nil)?.id == "2")
        // Once the time is known they were played then, and grow old as the others do.
        #expect(try rows.leastWorthKeeping(now: Self.now)?.id == "2")
        try keep(5, daysAgo: -100, plays: 1)
        var ids: [String] = []
        while let product = try rows.leastWorthKeeping(now: Self.now + 100 * Self.day) {
            ids.append(product.id)
            _ = try rows.remove(product)
        }
        #expect(ids == ["2", "1", "4", "3", "5"])
    }

    @Test("Without any other time, what is played while nobody knows it is not the first to go")
    func firstTimes() throws {
        try keep(1, daysAgo: 20, plays: 1)
        try rows.played(product(1), now: nil)
        try keep(2, daysAgo: 10, plays: 1)
        try keep(3, daysAgo: 15, plays: 1)
        #expect(try dropped() == ["3", "2", "1"])
    }

    @Test("Never what a person asked for, nor what is being downloaded again")
    func ofPersons() throws {
        try keep(1, daysAgo: 300, plays: 0, isAutomatic: false)
        try keep(2, daysAgo: 200, plays: 0)
        try keep(3, daysAgo: 100, plays: 0)
        let request = OfflineRequest(audioQuality: .lossless, videoQuality: .high)
        #expect(try rows.add(product(2), "r", request, priority: 0, isAutomatic: false))
        // As a damaged database might have it.
        try database.execute("UPDATE offline_item SET is_automatic = 1 WHERE product = 'tonearm:track/2'")
        // The old copy stays until the new content is complete, even when the user has not requested it.
        #expect(try rows.add(product(3), "r", request, priority: 0, isAutomatic: true))
        try keep(4, daysAgo: 50, plays: 0)
        // Played by the appliance when it had just expired: a product that the user chose stays user-owned.
        #expect(try rows.add(product(1), "r", request, priority: 0, isAutomatic: true))
        #expect(try rows.download(product(1))?.isAutomatic == false && rows.download(product(3))?.isAutomatic == true)
        #expect(try dropped() == ["4"])
        #expect(try rows.item(product(1)) != nil && rows.item(product(2)) != nil && rows.item(product(3)) != nil)
    }
}
