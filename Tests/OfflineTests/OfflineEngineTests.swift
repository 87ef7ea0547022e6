import Crypto
import Database
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

@Suite("Downloading products (docs/playback.md, 16)", .serialized)
struct OfflineEngineTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, tags: ["TITLE=Song", "ARTIST=Band"], in: folder)
        file = try track.file
        service.serve(file, as: "7")
    }

    @Test("A product is downloaded, checked and told; then it plays without any request, bit for bit")
    func keeps() throws {
        let offline = try OfflineFixture(service)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .notOfflined)
        try offline.keep(7)
        #expect(offline.log.events == ["started r7", "done r7"])
        let percents = offline.log.lines.compactMap { Int($0.split(separator: " ")[0]) }
        #expect(percents == percents.sorted() && Set(percents).count == percents.count && percents.last == 100)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        let entry = try #require(offline.entries().first)
        #expect(entry.status == .complete && entry.bytes == Int64(file.count) && entry.audioQuality == .lossless)
        #expect(entry.title == "Song" && entry.artist == "Band")
        let (infos, contents) = (service.infoRequests, service.contentRequests.count)
        #expect(try offline.played(track.frames) == track.samples)
        #expect(service.infoRequests == infos && service.contentRequests.count == contents)
        let context = try #require(offline.fixture.log.messages.compactMap { $0.context }.first)
        #expect(context.audioQuality == .lossless && context.productId == "tonearm:track/7")
    }

    @Test("A replacement by the service is listed and plays, under the product that was requested")
    func replaced() throws {
        var other = OfflineTestService.Received("99")
        (other.quality, other.mode, other.presentation) = ("HIGH", "DOLBY_ATMOS", "PREVIEW")
        service.give(other, for: "7")
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        let entry = try #require(offline.entries().first)
        #expect(entry.product == "tonearm:track/7" && entry.receivedProduct == "tonearm:track/99")
        #expect(entry.audioQuality == .high && entry.audioMode == .dolbyAtmos)
        #expect(entry.assetPresentation == .preview)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(99)) == .notOfflined)
        let infos = service.infoRequests
        let isEqual = try offline.played(track.frames) == track.samples
        #expect(isEqual)
        #expect(service.infoRequests == infos)
        let context = try #require(offline.fixture.log.messages.compactMap { $0.context }.first)
        #expect(context.productId == "tonearm:track/99" && context.referenceId == "r7")
        #expect(context.audioQuality == .high && context.audioMode == .dolbyAtmos)
        #expect(context.assetPresentation == .preview)
    }

    @Test("A copy of the requested product has no other product in the list, and a download has none yet")
    func notReplaced() throws {
        let offline = try OfflineFixture(service)
        try offline.downloadPart(file, percent: 50)
        let download = try #require(offline.entries().first)
        #expect(download.receivedProduct == nil && download.audioMode == nil && download.assetPresentation == nil)
        service.release()
        try offline.wait(for: "done r7")
        let entry = try #require(offline.entries().first)
        #expect(entry.receivedProduct == nil && entry.audioMode == .stereo && entry.assetPresentation == .full)
    }

    @Test("The same product twice is one download, and of an offline copy none")
    func once() throws {
        let offline = try OfflineFixture(service)
        try offline.downloadPart(file, percent: 50)
        #expect(!offline.engine.offline(OfflineFixture.product(7, reference: "second")))
        #expect(!offline.engine.offline(OfflineFixture.product(7)))
        #expect(!offline.engine.offline(MediaProduct(productType: .track, productId: "/a.flac", referenceId: "f")))
        offline.player.linkChanged(to: .offline)
        offline.player.linkChanged(to: Link(.wifi))
        try offline.wait(for: "done r7")
        #expect(!offline.engine.offline(OfflineFixture.product(7)))
        #expect(offline.log.events == ["started r7", "done r7"])
    }

    @Test("Nothing is written in the clear, and nothing is readable for others")
    func sealed() throws {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        let path = try onlyOfflineCopy(in: offline.folder["offline"])
        let stored = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(stored.range(of: Data(file[2000..<2064])) == nil && stored.range(of: Data("Song".utf8)) == nil)
        for path in [path, offline.folder["device.key"], offline.folder["tonearm.db"]] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(path)")
        }
        #expect(stored.count == Int(SealedLayout.sealedCount(of: Int64(file.count))!))
        #expect(Double(stored.count - file.count) < Double(file.count) * 0.01)
    }

    /// The state of an engine that was ended in the middle of a download, and how many bytes had arrived.
    private func stopped(
        _ file: [UInt8], of id: Int = 7, percent: Int
    ) throws -> (state: ScratchFolder, count: Int) {
        let offline = try OfflineFixture(service)
        let count = try offline.downloadPart(of: id, file, percent: percent)
        return (offline.folder, count)
    }

    @Test("A restart goes on where it was, without a byte twice that was on the medium")
    func continues() throws {
        let large = try Track("large", frames: 1_400_000, in: folder)
        let bytes = try large.file
        try #require(bytes.count > 5 << 20)
        service.serve(bytes, as: "8")
        let (state, count) = try stopped(bytes, of: 8, percent: 90)
        let again = try OfflineFixture(in: state, service)
        try again.wait(for: "done r8")
        let requests = service.contentRequests
        #expect(requests.count == 2)
        // Full chunks are on the medium.
        #expect(requests[1].from == count / SealedLayout.chunkCount * SealedLayout.chunkCount)
        #expect(requests[1].ifRange == "\"h1\"")
        #expect(again.log.events == ["done r8"])
        #expect(try again.played(large.frames, of: 8) == large.samples)
        #expect(again.files.count == 1)
    }

    @Test(
        "A part of other content is not continued, also if the server does not look at If-Range",
        arguments: [true, false])
    func changed(heedsIfRange: Bool) throws {
        let (state, _) = try stopped(file, percent: 80)
        if !heedsIfRange { service.ignoreIfRange() }
        let other = try Track("b", frames: 90_000, in: folder)
        service.serve(try other.file, as: "7", hash: "h2")
        let again = try OfflineFixture(in: state, service)
        try again.wait(for: "done r7")
        #expect(service.contentRequests.last?.from == 0)
        #expect(try again.played(other.frames) == other.samples)
        #expect(again.files.count == 1)
    }

    @Test("Content that does not play to its end becomes no offline copy", arguments: [0, 1])
    func damaged(_ kind: Int) throws {
        var bytes = file
        if kind == 0 { bytes.removeLast(3000) } else { bytes[bytes.count / 2] ^= 0x55 }
        service.serve(bytes, as: "7")
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "failed m3 r7")
        #expect(offline.files == [])
        guard case .failed = offline.status(of: 7) else { return #expect(Bool(false)) }
        // A new request is another attempt.
        service.serve(file, as: "7")
        try offline.keep(7)
    }

    @Test("Samples that are not those of the encoder become no offline copy, although every frame is whole")
    func digest() throws {
        // The MD5 is in the last 16 bytes of STREAMINFO.
        var bytes = file
        bytes[8 + 18] ^= 1
        service.serve(bytes, as: "7")
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "failed m3 r7")
    }

    @Test(
        "Refusals end a download with the error that the specification names",
        arguments: [
            (403, 4007, "a4007", PlayerError.Kind.offliningNotAllowedOnDevice),
            (401, 4010, "a4010", .monthlyStreamQuotaExceeded), (404, 0, "a0", .notAllowed),
        ])
    func refused(_ status: Int, _ subStatus: Int, _ code: String, _ kind: PlayerError.Kind) throws {
        service.refuse(status, subStatus: subStatus)
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.events.count == 2 }
        #expect(offline.log.events.last?.hasPrefix("failed") == true)
        let error = try #require(offline.log.failure)
        #expect(error.kind == kind)
    }

    @Test("An address that has expired is a new playbackinfo, once without progress")
    func handbrake() throws {
        service.refuseContent([403])
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        #expect(service.infoRequests == 2)
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        service.refuseContent([403, 403])
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.failure != nil }
        #expect(service.infoRequests == 4)
    }

    @Test("A cellular network stops a download in its middle and an unmetered one continues it; the setting allows it")
    func cellular() throws {
        let offline = try OfflineFixture(service)
        let arrived = try offline.downloadPart(file, percent: 50)
        offline.player.linkChanged(to: Link(.cellular))
        try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.unmeteredNetwork) }
        offline.player.offlineEngineConfig.offlineOverCellular = true
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
        // Bytes that had arrived are not requested again, and none were requested while the network was cellular.
        let full = arrived / SealedLayout.chunkCount * SealedLayout.chunkCount
        #expect(service.contentRequests.map { $0.from } == [0, full])
    }

    @Test("A player that begins in offline mode asks for nothing")
    func beginsInOfflineMode() throws {
        let offline = try OfflineFixture(service, isOfflineMode: true)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        #expect(offline.status(of: 7) == .waiting(.onlineMode))
        #expect(service.infoRequests == 0)
        offline.player.isOfflineMode = false
        try offline.wait(for: "done r7")
    }

    @Test("Offline mode stops everything, and plays only offline copies")
    func offlineMode() throws {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        service.serve(file, as: "8")
        offline.player.isOfflineMode = true
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.onlineMode) }
        let (infos, contents) = (service.infoRequests, service.contentRequests.count)
        #expect(try offline.played(track.frames) == track.samples)
        offline.fixture.engine.load(OfflineFixture.product(8))
        offline.fixture.engine.play()
        try offline.spin("the refusal") { offline.fixture.messages.contains("error a3 (r8)") }
        #expect(service.infoRequests == infos && service.contentRequests.count == contents)
        offline.player.isOfflineMode = false
        try offline.wait(for: "done r8")
    }

    @Test("A download that does not fit into the budget waits, and continues when a copy is deleted")
    func budget() throws {
        service.serve(file, as: "8")
        let size = Int64(file.count)
        let offline = try OfflineFixture(service) { $0.limits.bytes = 2 * size - 1 }
        try offline.keep(7)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        // A smaller one after it has room.
        let small = try Track("small", frames: 1000, in: folder)
        service.serve(try small.file, as: "9")
        try offline.keep(9)
        // The end of the smaller one is a reason to try again.
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        try offline.wait(for: "done r8")
    }

    @Test("Automatic downloads give way, and never those that a person requested")
    func automatic() throws {
        service.serve(file, as: "8")
        service.serve(file, as: "9")
        let size = Int64(file.count)
        let offline = try OfflineFixture(service) { $0.limits.bytes = 3 * size - 1 }
        offline.engine.offline(OfflineFixture.product(7), isAutomatic: true) { _ in }
        try offline.wait(for: "done r7")
        try offline.keep(8)
        try offline.keep(9)
        try offline.wait(for: "deleted r7")
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .notOfflined)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(8)) == .offlinedAndValid)
    }

    @Test("A file that cannot be listed as an offline copy stays on the medium, and is not fetched again")
    func listFails() throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
                try rows.database.execute(
                    "CREATE TRIGGER full BEFORE INSERT ON offline_item BEGIN SELECT RAISE(ABORT, 'full'); END")
            }
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            try offline.spin("the record") {
                let download = offline.store.waitToRead { (rows) throws(DatabaseError) in
                    try rows.download(ServiceAddress(.track, "7"))
                }
                return (download ?? nil)?.progress != nil
            }
        }
        let again = try OfflineFixture(in: state, service, link: nil)
        try again.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute("DROP TRIGGER full")
        }
        let requests = service.contentRequests.count
        again.engine.resume(nil) { _ in }
        again.player.linkChanged(to: Link(.ethernet))
        try again.spin("the product") { again.status(of: 7) == .complete }
        #expect(again.files.count == 1)
        let full = (file.count - 1) / SealedLayout.chunkCount * SealedLayout.chunkCount
        #expect(service.contentRequests.dropFirst(requests).map { $0.from } == [full])
    }

    @Test("A failed download that is resumed after a restart begins with its message, also when it continues")
    func resumed() throws {
        let (state, _) = try stopped(file, percent: 80)
        do {
            service.refuse(404)
            let offline = try OfflineFixture(in: state, service)
            try offline.spin("the failure") { offline.log.failure != nil }
        }
        service.refuse(nil)
        let offline = try OfflineFixture(in: state, service)
        offline.engine.resume(nil) { _ in }
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
        #expect(service.contentRequests.last?.from != 0)
    }

    @Test("An automatic download that cannot be stored leaves nothing in the list")
    func automaticFails() throws {
        service.refuse(403, subStatus: 4007)
        let offline = try OfflineFixture(service)
        offline.engine.offline(OfflineFixture.product(7), isAutomatic: true) { _ in }
        try offline.spin("the failure") { offline.log.failure != nil }
        #expect(offline.entries().isEmpty)
    }

    @Test("An automatic download does not wait for room, unless a person requests it")
    func automaticWithoutRoom() throws {
        service.serve(file, as: "8")
        let size = Int64(file.count)
        let offline = try OfflineFixture(service) { $0.limits.bytes = 2 * size - 1 }
        try offline.keep(7)
        offline.engine.offline(OfflineFixture.product(8), isAutomatic: true) { _ in }
        try offline.wait(for: "deleted r8")
        #expect(offline.entries().map { $0.product } == ["tonearm:track/7"])
        #expect(offline.files.count == 1)
        offline.player.isOfflineMode = true
        offline.engine.offline(OfflineFixture.product(8), isAutomatic: true) { _ in }
        #expect(!offline.engine.offline(OfflineFixture.product(8)))
        offline.player.isOfflineMode = false
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
    }
}
