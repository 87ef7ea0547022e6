import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("A download is cancelled, and a copy stays (docs/playback.md, 16.5)", .serialized)
struct OfflineCancelTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        file = try track.file
        for id in ["7", "8"] { service.serve(file, as: id) }
    }

    private func cancel(_ product: MediaProduct?, _ offline: OfflineFixture) -> OfflineEngine.Change {
        let answer = AwaitedValue<OfflineEngine.Change>()
        offline.engine.cancel(product) { answer.set($0) }
        return answer.wait()
    }

    /// A product that plays, while its other content is being downloaded.
    private func replacing() throws -> OfflineFixture {
        service.setDates(revalidateAt: 1_000_100, validUntil: 6_000_000)
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            try offline.keep(7)
            state = offline.folder
        }
        service.serve(try Track("b", frames: 60_000, in: folder).file, as: "7", hash: "h2")
        service.hang(after: 70_000)
        let offline = try OfflineFixture(in: state, service, now: 1_000_150)
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        return offline
    }

    @Test("While a product is downloaded again, its copy stays and plays", arguments: [true, false])
    func again(isAll: Bool) throws {
        let offline = try replacing()
        #expect(cancel(isAll ? nil : product, offline) == .changed)
        try offline.wait(for: isAll ? "all cancelled" : "cancelled r7")
        try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
        #expect(offline.entries().map { $0.status } == [.complete])
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        try offline.spin("the part") { offline.files.count == 1 }
        #expect(try offline.played(track.frames) == track.samples)
        #expect(cancel(isAll ? nil : product, offline) == .unchanged)
        #expect(offline.log.events.filter { !$0.hasPrefix("started") }.count == 1)
    }

    @Test("Removing deletes the copy, too")
    func removed() throws {
        let offline = try replacing()
        #expect(offline.engine.deleteOffline(product))
        #expect(offline.entries() == [])
        try offline.spin("the files") { offline.files == [] }
    }

    @Test("A download of a product without an offline copy leaves nothing, whatever its state is")
    func first() throws {
        let offline = try OfflineFixture(service)
        try offline.downloadPart(of: 7, file, percent: 50)
        #expect(cancel(OfflineFixture.product(8), offline) == .unchanged)
        #expect(cancel(product, offline) == .changed)
        try offline.spin("the files") { offline.files == [] }
        #expect(offline.entries() == [] && offline.engine.getOfflineState(product) == .notOfflined)
        service.refuse(404)
        #expect(offline.engine.offline(product))
        try offline.spin("the failure") { offline.log.failure != nil }
        #expect(cancel(product, offline) == .changed)
        #expect(offline.entries() == [])
        #expect(
            cancel(MediaProduct(productType: .track, productId: "/a.flac", referenceId: "a"), offline) == .notOfService)
        service.refuse(nil)
        try offline.keep(7)
    }
}
