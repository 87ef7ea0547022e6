import Crypto
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("Downloads and copies are deleted, paused and resumed (docs/playback.md, 16)", .serialized)
struct OfflineControlTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        file = try Track("a", frames: 100_000, in: folder).file
        service.serve(file, as: "7")
    }

    @Test("Deleting covers waiting and running downloads and the copies, with their files")
    func deletes() throws {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        service.serve(file, as: "8")
        service.serve(file, as: "9")
        try offline.downloadPart(of: 8, file, percent: 50)
        offline.player.isOfflineMode = true
        try offline.spin("the stop") { service.hangingTransfers == 0 }
        #expect(offline.engine.offline(OfflineFixture.product(9)))
        for id in [7, 8, 9] { #expect(offline.engine.deleteOffline(OfflineFixture.product(id))) }
        #expect(!offline.engine.deleteOffline(OfflineFixture.product(7)))
        #expect(offline.log.events.suffix(3) == ["deleted r7", "deleted r8", "deleted r9"])
        #expect(offline.entries() == [])
        try offline.spin("the files") { offline.files == [] }
    }

    @Test("A download that runs is deleted, with what it has")
    func deletesRunning() throws {
        let offline = try OfflineFixture(service)
        try offline.downloadPart(file, percent: 50)
        #expect(offline.engine.deleteAllOfflines())
        try offline.wait(for: "all deleted")
        try offline.spin("the files") { offline.files == [] && service.hangingTransfers == 0 }
        #expect(!offline.engine.deleteAllOfflines())
        try offline.keep(7)
    }

    @Test("A paused download waits for resume, also over a restart")
    func pauses() throws {
        let state: ScratchFolder
        let arrived: Int
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            arrived = try offline.downloadPart(file, percent: 75)
            offline.engine.pause(OfflineFixture.product(7)) { _ in }
            try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
            #expect(offline.status(of: 7) == .paused)
        }
        let again = try OfflineFixture(in: state, service)
        #expect(again.status(of: 7) == .paused)
        again.engine.resume(nil) { _ in }
        try again.wait(for: "done r7")
        #expect(service.contentRequests.last?.from == arrived / SealedLayout.chunkCount * SealedLayout.chunkCount)
    }

    @Test("To pause or resume what is not of the service concerns no download")
    func pausesOthers() throws {
        let offline = try OfflineFixture(service)
        try offline.downloadPart(file, percent: 75)
        let other = MediaProduct(productType: .track, productId: "/a.flac", referenceId: "r")
        let answers = Recorder<OfflineEngine.Change>()
        offline.engine.pause(other) { answers.record($0) }
        offline.engine.resume(other) { answers.record($0) }
        #expect(answers.elements == [.notOfService, .notOfService])
        #expect(offline.status(of: 7) == .running(percent: 75))
        #expect(service.hangingTransfers == 1)
    }

    @Test("A subscriber of the bus may call the functions that wait, and messages keep their order")
    func subscriberCalls() throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 50_000, in: folder)
        let service = OfflineTestService()
        for id in ["7", "8"] { service.serve(try track.file, as: id) }
        let offline = try OfflineFixture(service)
        let results = Recorder<Bool>()
        let engine = offline.engine
        engine.bus.subscribe { message in
            switch message {
            case .done(referenceId: "r7"):
                results.record(engine.offline(OfflineFixture.product(8)))
                results.record(engine.offline(OfflineFixture.product(8)))
                results.record(engine.deleteOffline(OfflineFixture.product(7)))
                results.record(engine.deleteOffline(OfflineFixture.product(7)))
                results.record(engine.getOfflineState(OfflineFixture.product(7)) == .notOfflined)
            case .done(referenceId: "r8"):
                results.record(engine.deleteAllOfflines())
                results.record(engine.deleteAllOfflines())
            default: break
            }
        }
        // Sees each message after the one that calls.
        let order = OfflineLog()
        engine.bus.subscribe { order.append($0) }
        #expect(engine.offline(OfflineFixture.product(7)))
        try order.wait(for: "all deleted")
        #expect(results.elements == [true, false, true, false, true, true, false])
        #expect(
            order.events.filter { !$0.hasPrefix("started") } == ["done r7", "deleted r7", "done r8", "all deleted"])
        #expect(order.events == offline.log.events)
    }
}
