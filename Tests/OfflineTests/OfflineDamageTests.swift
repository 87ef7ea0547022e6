import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("Damage that is found while an offline copy plays (docs/playback.md, 16.7)", .serialized)
struct OfflineDamageTests {
    /// Where an offline copy is damaged: in the bytes that are read to open it, or in those that are read while it
    /// plays.
    enum Place { case beginning, middle }

    private let folder: ScratchFolder
    private let track: Track
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, in: folder)
        service.serve(try track.file, as: "7")
    }

    /// The state with an offline copy that is damaged.
    private func damaged(_ place: Place) throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        let path = try onlyOfflineCopy(in: offline.folder["offline"])
        try flipBit(ofFile: path) { place == .beginning ? 1000 : $0 * 3 / 4 }
        return offline.folder
    }

    @Test(
        "In offline mode it is an error of the product, and the product is downloaded again when the mode ends",
        arguments: [Place.beginning, .middle])
    func offlineMode(_ place: Place) throws {
        let offline = try OfflineFixture(in: try damaged(place), service)
        offline.player.isOfflineMode = true
        let infos = service.infoRequests
        offline.fixture.card.playFreely()
        offline.fixture.engine.load(product)
        offline.fixture.engine.play()
        try offline.spin("the error") { offline.fixture.messages.contains("error m7 (r7)") }
        try offline.wait(for: "failed m7 r7")
        #expect(offline.log.events == ["failed m7 r7"])
        #expect(offline.engine.getOfflineState(product) == .offlinedButNotValid)
        #expect(offline.entries().map { $0.status } == [.waiting(.onlineMode), .damaged])
        #expect(service.infoRequests == infos)
        offline.player.isOfflineMode = false
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["failed m7 r7", "started r7", "done r7"])
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.entries().map { $0.status } == [.complete])
    }

    @Test(
        "Otherwise playback goes on from the service, and the product is downloaded again",
        arguments: [Place.beginning, .middle])
    func online(_ place: Place) throws {
        let offline = try OfflineFixture(in: try damaged(place), service)
        let isEqual = try offline.played(track.frames) == track.samples
        #expect(isEqual)
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["failed m7 r7", "started r7", "done r7"])
        #expect(!offline.fixture.messages.contains { $0.hasPrefix("error") })
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
    }

    @Test(
        "Without a network it is an error of the product, and nothing waits for the service",
        arguments: [Place.beginning, .middle])
    func withoutNetwork(_ place: Place) throws {
        let offline = try OfflineFixture(in: try damaged(place), service, link: nil, isLinked: Locked(false))
        let infos = service.infoRequests
        offline.fixture.card.playFreely()
        offline.fixture.engine.load(product)
        offline.fixture.engine.play()
        try offline.spin("the error") { offline.fixture.messages.contains("error m7 (r7)") }
        #expect(service.infoRequests == infos)
    }

    @Test("The network goes between the opening and the damage: the same")
    func networkGone() throws {
        let isLinked = Locked(true)
        let offline = try OfflineFixture(in: try damaged(.middle), service, link: nil, isLinked: isLinked)
        let infos = service.infoRequests
        offline.fixture.engine.load(product)
        try offline.fixture.wait(for: .notPlaying)
        isLinked.set(false)
        offline.fixture.card.playFreely()
        offline.fixture.engine.play()
        try offline.spin("the error") { offline.fixture.messages.contains("error m7 (r7)") }
        #expect(service.infoRequests == infos)
    }

    @Test("A copy that is known to be damaged is not read again: it plays from the service until it is whole")
    func known() throws {
        let offline = try OfflineFixture(in: try damaged(.middle), service, link: nil)
        let isEqual = try offline.played(track.frames) == track.samples
        #expect(isEqual)
        try offline.wait(for: "failed m7 r7")
        try offline.fixture.wait(for: .idle)
        let infos = service.infoRequests
        let isEqualAgain = try offline.played(track.frames) == track.samples
        #expect(isEqualAgain)
        #expect(service.infoRequests == infos + 1)
        #expect(offline.log.events == ["failed m7 r7"])
    }
}
