import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Player

@Suite("Copies that were taken for damaged, and are whole (docs/playback.md, 16.7 and 16.10)", .serialized)
struct OfflineRepairTests {
    private let folder: ScratchFolder
    private let track: Track
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        for id in ["7", "8"] { service.serve(try track.file, as: id) }
    }

    private func kept(_ ids: Int...) throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        for id in ids { try offline.keep(id) }
        return offline.folder
    }

    /// Starts without the file of the product, and puts it back.
    private func missedOnce(_ state: ScratchFolder) throws {
        let path = try onlyOfflineCopy(in: state["offline"])
        try FileManager.default.moveItem(atPath: path, toPath: state["aside"])
        let offline = try OfflineFixture(in: state, service, link: nil)
        try offline.wait(for: "failed m7 r7")
        #expect(offline.engine.getOfflineState(product) == .offlinedButNotValid)
        try FileManager.default.moveItem(atPath: state["aside"], toPath: path)
    }

    @Test("A check by hand takes the mark back, and ends the download that was made for it", arguments: [false, true])
    func verified(isRunning: Bool) throws {
        let state = try kept(7)
        try missedOnce(state)
        let offline = try OfflineFixture(in: state, service, link: nil)
        #expect(offline.entries().map { $0.status } == [.waiting(.network), .damaged])
        if isRunning {
            service.hang(after: 70_000)
            offline.player.linkChanged(to: Link(.ethernet))
            try offline.spin("the transfer") { service.hangingTransfers == 1 }
        }
        #expect(offline.verify(7) == .whole)
        try offline.wait(for: "done r7")
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.entries().map { $0.status } == [.complete])
        #expect(offline.log.events == (isRunning ? ["started r7", "done r7"] : ["done r7"]))
        try offline.spin("the part") { offline.files.count == 1 }
        #expect(try offline.played(track.frames) == track.samples)
        // A second time changes nothing.
        #expect(offline.verify(7) == .whole)
        #expect(offline.log.events.filter { $0 == "done r7" }.count == 1)
    }

    @Test("A download that somebody asked for goes on, also of what is whole")
    func asked() throws {
        let state = try kept(7)
        try missedOnce(state)
        let offline = try OfflineFixture(in: state, service, link: nil)
        #expect(!offline.engine.offline(product))
        #expect(offline.verify(7) == .whole)
        #expect(offline.entries().map { $0.status } == [.waiting(.network), .complete])
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r7")
        #expect(offline.entries().map { $0.status } == [.complete])
    }

    @Test("A damaged copy stays damaged when it is checked")
    func damaged() throws {
        let state = try kept(7)
        let path = try onlyOfflineCopy(in: state["offline"])
        try flipBit(ofFile: path) { $0 / 2 }
        let offline = try OfflineFixture(in: state, service, link: nil)
        for _ in 0..<2 { #expect(offline.verify(7) == .damaged) }
        #expect(offline.entries().map { $0.status } == [.waiting(.network), .damaged])
        #expect(offline.log.events == ["failed m7 r7"])
    }

    @Test(
        "A copy whose row has damaged values is reported, listed as damaged and counted, and downloaded again",
        arguments: ["received = '{'", "content = x'00'", "content = 5", "reference = x'00', key = 5"])
    func unreadable(_ damage: String) throws {
        let state = try kept(7, 8)
        try Database(path: state["tonearm.db"]).execute(
            "UPDATE offline_item SET \(damage) WHERE product = 'tonearm:track/7'")
        let offline = try OfflineFixture(in: state, service, link: nil)
        try offline.spin("the report") { offline.log.failure?.code == "m7" }
        #expect(offline.entries().map { $0.status } == [.waiting(.network), .damaged, .complete])
        #expect(offline.engine.getOfflineState(product) == .offlinedButNotValid && offline.verify(7) == .damaged)
        let count = AwaitedValue<Int>()
        offline.engine.status { count.set($0?.copyCount ?? -1) }
        #expect(count.wait() == 2 && offline.log.events.count == 1)
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.spin("the end") { offline.log.events.last?.hasPrefix("done") ?? false }
        #expect(offline.entries().map { $0.status } == [.complete, .complete])
        #expect(try offline.played(track.frames) == track.samples)
    }

    @Test("A download whose row has damaged values fails, is listed, and does not count as one that will run")
    func unreadableDownload() throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service, link: nil)
            for id in [7, 8] { #expect(offline.engine.offline(OfflineFixture.product(id))) }
            state = offline.folder
        }
        try Database(path: state["tonearm.db"]).execute(
            "UPDATE offline_job SET request = 'x' WHERE product = 'tonearm:track/7'")
        let offline = try OfflineFixture(in: state, service, link: nil)
        try offline.wait(for: "failed m7 r7")
        #expect(
            offline.entries().map { $0.status } == [
                .failed(reason: OfflineRows.unreadableDownload), .waiting(.network),
            ])
        let count = AwaitedValue<Int>()
        offline.engine.status { count.set($0?.downloadCount ?? -1) }
        #expect(count.wait() == 1)
        // A new request is a new download.
        #expect(offline.engine.offline(product))
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r7")
    }

    @Test("A device key that is missing at one start and back at the next loses nothing that it opens")
    func keyBack() throws {
        let state = try kept(7)
        let (key, aside) = (state["device.key"], state["device.key.aside"])
        try FileManager.default.moveItem(atPath: key, toPath: aside)
        do {
            let offline = try OfflineFixture(in: state, service, link: nil)
            try offline.spin("the loss") { offline.lostCount() == 1 }
            #expect(offline.entries().map { $0.status } == [.waiting(.network), .damaged])
            // Downloaded under the other key.
            offline.engine.pause(product) { _ in }
            offline.player.linkChanged(to: Link(.ethernet))
            try offline.keep(8)
        }
        try FileManager.default.removeItem(atPath: key)
        try FileManager.default.moveItem(atPath: aside, toPath: key)
        let requests = service.contentRequests.count
        let offline = try OfflineFixture(in: state, service, link: nil)
        try offline.spin("the loss of the other one") { offline.lostCount() == 1 }
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.status(of: 7) == .complete)
        #expect(offline.entries().map { $0.status } == [.waiting(.network), .complete, .damaged])
        #expect(try offline.played(track.frames) == track.samples)
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r8")
        #expect(service.contentRequests.count == requests + 1)
    }
}
