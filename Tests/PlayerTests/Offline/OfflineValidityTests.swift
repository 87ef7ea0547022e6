import Foundation
import Network
import OfflineTestSupport
import Platform
import TestSupport
import Testing

@testable import Player

@Suite("What is kept stays valid (docs/playback.md, 16.6 and 16.7)", .serialized)
struct OfflineValidityTests {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    private let service = KeptService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 50_000, in: folder)
        file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: track.product.productId)))
        service.serve(file, as: "7")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
    }

    /// Keeps the product, and returns the state that a restart finds.
    private func kept() throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        return offline.folder
    }

    /// The one file of what is kept.
    private func keptFile(in state: ScratchFolder) throws -> String {
        let all = FileManager.default.enumerator(atPath: state["offline"])?.allObjects as? [String]
        return state["offline/\(try #require(all?.first { $0.count > 3 }))"]
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

    @Test("Other content replaces the old one only when it is whole, with the messages of a download")
    func differs() throws {
        let state = try kept()
        let other = try Track("b", frames: 40_000, in: folder)
        service.serve([UInt8](try Data(contentsOf: URL(fileURLWithPath: other.product.productId))), as: "7", hash: "h2")
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
        // What is playing is not pulled away.
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

    @Test("Nothing is validated over a cellular network, and both when the setting allows it")
    func cellular() throws {
        let state = try kept()
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let count = service.infoRequests
        // A request that comes too early is refused, and counts.
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
        let path = try keptFile(in: state)
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
        let path = try keptFile(in: state)
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
        FileManager.default.createFile(atPath: stray, contents: Data("x".utf8))
        let offline = try OfflineFixture(in: state, service)
        try offline.spin("the removal") { !FileManager.default.fileExists(atPath: stray) }
        #expect(offline.files.count == 1)
    }

    @Test("A lost key is told, and everything is downloaded again")
    func lostKey() throws {
        let state = try kept()
        try FileManager.default.removeItem(atPath: state["device.key"])
        let offline = try OfflineFixture(in: state, service)
        try offline.wait(for: "done r7")
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(try offline.played(track.frames) == track.samples)
        #expect(service.contentRequests.count == 2)
    }

    @Test("Every chunk is checked by hand")
    func verifies() throws {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        let answers = Recorder<Bool?>()
        offline.engine.verify(product) { answers.record($0) }
        try offline.spin("the answer") { answers.elements.count == 1 }
        #expect(answers.elements == [true])
        offline.engine.verify(OfflineFixture.product(8)) { answers.record($0) }
        try offline.spin("the answer") { answers.elements.count == 2 }
        #expect(answers.elements == [true, nil])
    }
}
