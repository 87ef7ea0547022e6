import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Offline
@testable import Playback
@testable import Player

@Suite("Offline copies stay valid (docs/playback.md, 16.6 and 16.7)", .serialized)
struct OfflineValidityTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        file = try track.file
        service.serve(file, as: "7")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
    }

    /// Downloads the product, and returns the state that a restart finds.
    private func kept() throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        return offline.folder
    }

    /// The one file of the offline copy.
    private func copyFile(in state: ScratchFolder) throws -> String {
        try onlyOfflineCopy(in: state["offline"])
    }

    @Test("Expiry is told and not played, deletes nothing, and a validation heals it")
    func expires() throws {
        let state = try kept()
        service.refuse(404)
        do {
            let late = try OfflineFixture(in: state, service, now: 1_000_201)
            #expect(late.engine.getOfflineState(product) == .offlinedButNotValid)
            #expect(late.status(of: 7) == .expired)
            late.fixture.engine.load(product)
            late.fixture.engine.play()
            try late.spin("the refusal") { late.fixture.messages.contains("error a4 (r7)") }
            #expect(late.files.count == 1)
        }
        service.refuse(nil)
        service.setDates(revalidateAt: 2_000_000, validUntil: 3_000_000)
        let healed = try OfflineFixture(in: state, service, now: 1_000_201)
        try healed.spin("the validation") { healed.engine.getOfflineState(product) == .offlinedAndValid }
        #expect(healed.log.lines == [])
        #expect(service.contentRequests.count == 1)
    }

    @Test("On its last second it is valid")
    func boundary() throws {
        let state = try kept()
        let offline = try OfflineFixture(in: state, service, link: nil, now: 1_000_200)
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
    }

    @Test("It is validated once when its time has come")
    func due() throws {
        let state = try kept()
        let count = service.infoRequests
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let offline = try OfflineFixture(in: state, service, now: 1_000_101)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        #expect(service.infoRequests == count + 1)
    }

    @Test(
        "A copy with an end and without a date to ask is asked for a day before the end, and after it",
        arguments: [(1_086_399, 0), (1_086_401, 1), (1_172_801, 1)])
    func withoutDate(now: Int64, requests: Int) throws {
        service.setDates(revalidateAt: nil, validUntil: 1_172_800)
        let state = try kept()
        let count = service.infoRequests
        service.setDates(revalidateAt: nil, validUntil: 2_000_000)
        let offline = try OfflineFixture(in: state, service, now: now)
        if requests > 0 {
            try offline.spin("the validation") { offline.entries().first?.validUntil == 2_000_000 }
            #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        } else {
            offline.fixture.onControl {}
            _ = offline.entries()
            offline.fixture.onControl {}
        }
        #expect(service.infoRequests == count + requests)
    }

    @Test("Other content replaces the old one only when it is whole, with the messages of a download")
    func differs() throws {
        let state = try kept()
        let other = try Track("b", frames: 40_000, in: folder)
        service.serve(try other.file, as: "7", hash: "h2")
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        service.hang(after: 70_000)
        let offline = try OfflineFixture(in: state, service, now: 1_000_150)
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        // The old one plays meanwhile.
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        offline.fixture.engine.load(product)
        offline.fixture.engine.play()
        try offline.fixture.hear(20_000)
        service.hang(after: nil)
        offline.player.linkChanged(to: .offline)
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
        // The file of a playing product stays until the end.
        try offline.fixture.hear(30_000)
        #expect(offline.fixture.heardSamples == track.samples)
        try offline.spin("the old file") { offline.files.count == 1 }
        try offline.fixture.wait(for: .idle)
        #expect(try offline.played(other.frames) == other.samples)
    }

    @Test("A failed validation changes nothing")
    func fails() throws {
        let state = try kept()
        service.refuse(403)
        let count = service.infoRequests
        let offline = try OfflineFixture(in: state, service, now: 1_000_150)
        try offline.spin("the request") { service.infoRequests == count + 1 }
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(offline.log.lines == [])
    }

    @Test(
        "A service that does not answer for one product keeps no other one from its validation",
        arguments: [(OfflineTestService.Silence.lost, 4), (.busy, 1)])
    func silence(_ silence: OfflineTestService.Silence, attempts: Int) throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            try offline.keep(7)
            service.serve(file, as: "8")
            service.setDates(revalidateAt: 1_000_110, validUntil: 1_000_200)
            try offline.keep(8)
            state = offline.folder
        }
        let count = service.infoRequests
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        service.fall(silence, for: "7")
        let offline = try OfflineFixture(in: state, service, now: 1_000_150)
        try offline.spin("the validation of the other one") {
            service.passDelays()
            return offline.entries().last?.validUntil == 6_000_000
        }
        #expect(offline.entries().map { $0.validUntil } == [1_000_200, 6_000_000])
        #expect(service.infoRequests == count + attempts + 1)
        #expect(offline.log.lines == [])
    }

    @Test("Nothing is validated over a cellular network, and both when the setting allows it")
    func cellular() throws {
        let state = try kept()
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let count = service.infoRequests
        // A request that comes too early is refused, and counts as an attempt.
        service.refuse(404)
        let offline = try OfflineFixture(in: state, service, link: Link(.cellular), now: 1_000_150)
        offline.fixture.onControl {}
        _ = offline.entries()
        service.refuse(nil)
        offline.player.offlineEngineConfig.offlineOverCellular = true
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        #expect(service.infoRequests == count + 1)
    }

    @Test("A clock that is not known decides nothing")
    func unknownTime() throws {
        let state = try kept()
        let offline = try OfflineFixture(in: state, service, now: nil)
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
    }

    @Test("A damaged part is told, downloaded again, and playback goes on from the service without a gap")
    func damaged() throws {
        let state = try kept()
        let path = try copyFile(in: state)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let offline = try OfflineFixture(in: state, service)
        #expect(try offline.played(track.frames) == track.samples)
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["failed m7 r7", "started r7", "done r7"])
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
    }

    @Test("A file that is missing or too short is found at the start and downloaded again", arguments: [true, false])
    func missing(_ isMissing: Bool) throws {
        let state = try kept()
        let path = try copyFile(in: state)
        if isMissing { try FileManager.default.removeItem(atPath: path) } else { truncate(path, 1000) }
        let offline = try OfflineFixture(in: state, service)
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["failed m7 r7", "started r7", "done r7"])
    }

    @Test("Files that nobody knows are removed at the start")
    func unknown() throws {
        let state = try kept()
        try FileManager.default.createDirectory(atPath: state["offline/00"], withIntermediateDirectories: true)
        let stray = state["offline/00/00112233445566778899aabbccddeeff"]
        #expect(FileManager.default.createFile(atPath: stray, contents: Data("x".utf8)))
        let offline = try OfflineFixture(in: state, service)
        try offline.spin("the removal") { !FileManager.default.fileExists(atPath: stray) }
        #expect(offline.files.count == 1)
    }

    @Test("A lost key is told, and everything is downloaded again")
    func lostKey() throws {
        let state = try kept()
        try FileManager.default.removeItem(atPath: state["device.key"])
        // Without a network it stays lost, also after a restart.
        do {
            let offline = try OfflineFixture(in: state, service, link: nil)
            try offline.spin("the loss") { offline.lostCount() == 1 }
        }
        let offline = try OfflineFixture(in: state, service, link: nil)
        try offline.spin("the loss") { offline.lostCount() == 1 }
        #expect(offline.entries().last?.status == .damaged)
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r7")
        #expect(offline.lostCount() == 0)
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(try offline.played(track.frames) == track.samples)
        #expect(service.contentRequests.count == 2)
    }

    /// A conductor on the state of an earlier one, on a loop that the test runs by hand.
    private func conductor(on loop: EventLoop, in state: ScratchFolder) throws -> OfflineConductor {
        let storage = try StorageThread(state["tonearm.db"], modules: [Player.schema, Offlining.schema])
        let content = OfflineService(
            network: service, settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: "t"))
        let offlining = try Offlining(
            OfflineSettings(folder: state["offline"]), content, evictCache: nil, storage: storage,
            clock: TrustedClock(store: nil, source: ManualTime()), keyFolder: state.path)
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        return OfflineConductor(offlining, loop: loop, configuration)
    }

    @Test("A lost key is a message, with the number of products")
    func lostKeyMessage() throws {
        let state = try kept()
        try FileManager.default.removeItem(atPath: state["device.key"])
        let loop = try EventLoop()
        let conductor = try conductor(on: loop, in: state)
        let log = OfflineLog()
        conductor.bus.subscribe { log.append($0) }
        conductor.start()
        // After the check of the key.
        _ = try conductor.offlining.store.waitToWrite { (rows) throws(DatabaseError) -> Int in try rows.itemCount() }
        loop.stop()
        loop.run()
        #expect(log.lines == ["lost 1"])
        conductor.shutDown()
        conductor.close()
    }

    @Test("A verification that runs when the engine ends is answered, and so is one that waits, each once")
    func verificationEnds() throws {
        let state = try kept()
        let loop = try EventLoop()
        let conductor = try conductor(on: loop, in: state)
        let address = try #require(ServiceAddress("tonearm:track/7"))
        let answers = Recorder<OfflineVerification>()
        for _ in 0..<2 {
            conductor.integrity.verify(address, OfflineCheck(loop: loop, conductor.integrity)) { answers.record($0) }
        }
        conductor.shutDown()
        #expect(answers.elements == [.stopped, .stopped])
        // Runs the actions that the thread has posted at its end.
        loop.stop()
        loop.run()
        #expect(answers.elements.count == 2)
        conductor.close()
    }

    @Test("A verification that is cancelled ends, whether it runs or waits, and the next one has its turn")
    func cancelledVerification() throws {
        let state = try kept()
        let loop = try EventLoop()
        let conductor = try conductor(on: loop, in: state)
        let address = try #require(ServiceAddress("tonearm:track/7"))
        let answers = Recorder<String>()
        // The first one runs, and has not begun to read.
        let gate = DispatchSemaphore(value: 0)
        conductor.offlining.store.storage.perform { gate.waitOrEndRun("the test") }
        let checks = (0..<3).map { _ in OfflineCheck(loop: loop, conductor.integrity) }
        for (index, check) in checks.enumerated() {
            conductor.integrity.verify(address, check) { answers.record("\(index) \($0)") }
        }
        conductor.integrity.cancel(checks[1])
        #expect(answers.elements == ["1 stopped"])
        conductor.integrity.cancel(checks[0])
        conductor.integrity.cancel(checks[0])
        gate.signal()
        while answers.elements.count < 3 {
            loop.schedule(after: 1_000_000) { loop.stop() }
            loop.run()
        }
        #expect(answers.elements == ["1 stopped", "0 stopped", "2 whole"])
        conductor.integrity.cancel(checks[2])
        conductor.shutDown()
        #expect(answers.elements.count == 3)
        conductor.close()
    }

    @Test("A verification waits while the system has no thread left")
    func verificationWithoutThread() throws {
        let state = try kept()
        let clock = ManualClock()
        let loop = try EventLoop(drivenBy: clock)
        let conductor = try conductor(on: loop, in: state)
        let verifications = OfflineVerifications(
            conductor.offlining.store, loop: loop, clock: conductor.offlining.clock)
        let start = verifications.startThread
        var attempts = 0
        verifications.startThread = { (body) throws(SystemError) in
            attempts += 1
            if attempts == 1 { throw SystemError(code: EAGAIN, operation: "pthread_create") }
            return try start(body)
        }
        let address = try #require(ServiceAddress("tonearm:track/7"))
        let answers = Recorder<OfflineVerification>()
        verifications.verify(address, OfflineCheck(loop: loop, conductor.integrity)) {
            answers.record($0)
            loop.stop()
        } _: { _ in
        }
        #expect(attempts == 1 && answers.elements.isEmpty && verifications.count == 1)
        clock.advance(by: 1_000_000_000)
        loop.clockAdvanced()
        endRunUnlessInTime("the verification") { loop.run() }
        #expect(attempts == 2 && answers.elements == [.whole])
        verifications.shutDown()
        conductor.shutDown()
        conductor.close()
    }

    @Test("A list that cannot be read is none, and not an empty one")
    func unreadableList() throws {
        let offline = try OfflineFixture(service)
        try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute("DROP TABLE offline_item")
            try rows.database.execute("DROP TABLE offline_job")
        }
        let lists = Recorder<[OfflineEntry]?>()
        offline.engine.downloads { entries, _ in lists.record(entries) }
        offline.engine.items { entries, _ in lists.record(entries) }
        let verifications = Recorder<OfflineVerification>()
        offline.engine.verify(product) { verifications.record($0) }
        try offline.spin("the answers") { lists.elements.count == 2 && verifications.elements.count == 1 }
        #expect(lists.elements == [nil, nil])
        #expect(verifications.elements == [.unlisted])
    }

    @Test("A damaged device key and a folder that cannot be made are refused with what failed and the way out")
    func unusable() throws {
        let loop = try EventLoop()
        let badKey = try ScratchFolder()
        #expect(FileManager.default.createFile(atPath: badKey["device.key"], contents: Data("x".utf8)))
        let ofKey = #expect(throws: PlayerError.self) { _ = try conductor(on: loop, in: badKey) }
        #expect(ofKey?.code == "k1" && ofKey?.message.contains(badKey["device.key"]) == true)
        #expect(ofKey?.message.contains("remove it") == true && ofKey?.message.contains("downloaded again") == true)
        let noFolder = try ScratchFolder()
        #expect(FileManager.default.createFile(atPath: noFolder["offline"], contents: nil))
        let ofFolder = #expect(throws: PlayerError.self) { _ = try conductor(on: loop, in: noFolder) }
        #expect(ofFolder?.message.contains(noFolder["offline"]) == true)
        #expect(ofFolder?.message.contains("[offline] folder") == true)
    }

    @Test("Every chunk is checked by hand")
    func verifies() throws {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        let answers = Recorder<OfflineVerification>()
        offline.engine.verify(product) { answers.record($0) }
        try offline.spin("the answer") { answers.elements.count == 1 }
        #expect(answers.elements == [.whole])
        offline.engine.verify(OfflineFixture.product(8)) { answers.record($0) }
        try offline.spin("the answer") { answers.elements.count == 2 }
        #expect(answers.elements == [.whole, .noCopy])
    }
}
