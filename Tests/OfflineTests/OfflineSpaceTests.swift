import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Player

@Suite("Room for offline copies (docs/playback.md, 16.5)", .serialized)
struct OfflineSpaceTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let state: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        state = try ScratchFolder()
        let track = try Track("a", frames: 200_000, in: folder)
        file = try track.file
        for id in ["7", "8", "9"] { service.serve(file, as: id) }
    }

    private var size: Int64 { Int64(file.count) }

    private static func id(_ entry: OfflineEntry) -> Int { Int(entry.product.split(separator: "/")[1]) ?? 0 }

    /// Waits until so many products are complete, so many wait for room, and there are no others.
    private func wait(_ offline: OfflineFixture, copies: Int, waiting: Int) throws {
        try offline.spin("\(copies) copies and \(waiting) that wait") {
            let entries = offline.entries()
            let completeEntries = entries.filter { $0.status == .complete }
            let waitingEntries = entries.filter { $0.status == .waiting(.space) }
            return completeEntries.count == copies && waitingEntries.count == waiting
                && entries.count == copies + waiting
        }
    }

    private func deleteCopies(_ offline: OfflineFixture) throws {
        let first = offline.entries().first { $0.status == .complete }
        let kept = try #require(first)
        // Deleted before its message was sent, it would get no message any more.
        try offline.wait(for: "done r\(Self.id(kept))")
        #expect(offline.engine.deleteOffline(OfflineFixture.product(Self.id(kept))))
    }

    @Test("Three at once of which one has room: it is completed, the others wait and are completed after it")
    func reserves() throws {
        let size = size
        let offline = try OfflineFixture(service) { $0.limits.bytes = size + size / 2 }
        service.hang(after: file.count / 2)
        for id in [7, 8, 9] { #expect(offline.engine.offline(OfflineFixture.product(id))) }
        // No file is on the medium yet, and the first download has reserved all the space.
        try offline.spin("the waits") {
            let waiting = offline.entries().filter { $0.status == .waiting(.space) }
            return service.hangingTransfers == 1 && waiting.count == 2
        }
        service.release()
        try wait(offline, copies: 1, waiting: 2)
        // The service is not asked again for a product without room.
        #expect(service.infoRequests == 3)
        try deleteCopies(offline)
        try wait(offline, copies: 1, waiting: 1)
        try deleteCopies(offline)
        try wait(offline, copies: 1, waiting: 0)
        for id in [7, 8, 9] { try offline.wait(for: "done r\(id)") }
        let ends = offline.log.events.filter { $0.hasPrefix("done") || $0.hasPrefix("failed") }
        #expect(ends.sorted() == ["done r7", "done r8", "done r9"])
    }

    @Test("A download that is paused gives back what it had reserved")
    func givesBack() throws {
        let size = size
        // The part of the first one stays, and the other one fits beside it.
        let offline = try OfflineFixture(service) { $0.limits.bytes = size + size / 2 }
        try offline.downloadPart(of: 7, file, percent: 25)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        offline.engine.pause(OfflineFixture.product(7)) { _ in }
        try offline.wait(for: "done r8")
        #expect(offline.status(of: 7) == .paused)
    }

    @Test("Parts of which none has room to be completed: the later one gives way, and both are completed in the end")
    func parts() throws {
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.downloadPart(of: 7, file, percent: 75)
            offline.engine.pause(OfflineFixture.product(7)) { _ in }
            try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
            try offline.downloadPart(of: 8, file, percent: 75)
        }
        let size = size
        let offline = try OfflineFixture(in: state, service) {
            $0.limits.bytes = size + size / 8
            $0.parallelDownloads = 1
        }
        // Space of a paused download is not given to others.
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        offline.engine.resume(nil) { _ in }
        try offline.wait(for: "done r7")
        let requests = service.contentRequests.filter { $0.product == "7" }
        #expect(requests.count == 2 && requests.last?.from != 0)
        try wait(offline, copies: 1, waiting: 1)
        try deleteCopies(offline)
        try offline.wait(for: "done r8")
        try offline.spin("the files") { offline.files.count == 1 }
    }

    @Test("Below the free space that has to stay a download waits, after the cache has given way, and asks nobody")
    func floor() throws {
        let cache = CountedCache(responses: 3)
        do {
            let offline = try OfflineFixture(in: state, service, cache: cache) {
                $0.limits.freeBytes = Int64.max / 2
            }
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            try offline.spin("the wait") { offline.status(of: 7) == .waiting(.space) }
            #expect(cache.isEmpty)
            #expect(service.infoRequests == 0)
            #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .notOfflined)
        }
        let offline = try OfflineFixture(in: state, service)
        try offline.wait(for: "done r7")
    }

    @Test(
        "A download whose size is known fits where little more than that is free, and waits where less is",
        .enabled(if: Medium.isAvailable), arguments: [(320, true), (200, false), (-4, false)])
    func fits(kibibytesMore: Int64, isEnough: Bool) throws {
        let medium = try Medium(at: state["offline"], kilobytes: 32 << 10)
        let free = try Folder.freeBytes(at: medium.path)
        let size = size
        let offline = try OfflineFixture(in: state, service) {
            $0.limits.freeBytes = free - size - (kibibytesMore << 10)
        }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        if isEnough {
            try offline.wait(for: "done r7")
        } else {
            try offline.spin("the wait") { offline.status(of: 7) == .waiting(.space) }
        }
    }

    @Test("The streaming cache gives way before a download waits", .enabled(if: Medium.isAvailable))
    func cacheGivesWay() throws {
        let medium = try Medium(at: state["offline"], kilobytes: 32 << 10)
        medium.fill()
        let filler = "\(medium.path)/filler"
        let cache = CountedCache(responses: 1) { _ = unlink(filler) }
        let offline = try OfflineFixture(in: state, service, cache: cache) { $0.limits.freeBytes = 8 << 20 }
        let changes = Recorder<Bool>()
        offline.engine.observeSpace { changes.record(true) }
        try offline.keep(7)
        #expect(cache.isEmpty)
        #expect(changes.elements.isEmpty)
    }

    @Test("That downloads wait for room is told when it begins and when it ends")
    func observes() throws {
        let size = size
        let offline = try OfflineFixture(service) { $0.limits.bytes = size + size / 2 }
        try offline.keep(8)
        let changes = Recorder<Bool>()
        offline.engine.observeSpace { changes.record(true) }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the wait") { changes.elements.count == 1 }
        #expect(offline.status(of: 7) == .waiting(.space))
        #expect(offline.engine.deleteOffline(OfflineFixture.product(7)))
        try offline.spin("the end of the wait") { changes.elements.count == 2 }
    }

    @Test("The budget is what the setting says: a product of exactly that size is kept", arguments: [true, false])
    func fits(tellsLength: Bool) throws {
        let size = size
        if !tellsLength { service.hideLengths() }
        let offline = try OfflineFixture(service) { $0.limits.bytes = size }
        try offline.keep(7)
    }

    @Test("Content without a length fails when more than the budget has arrived, and leaves nothing")
    func tooLargeWithoutLength() throws {
        let size = size
        service.hideLengths()
        let offline = try OfflineFixture(service) {
            $0.limits.bytes = size - 1
            $0.recordInterval = 65_536
        }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "failed a6 r7")
        #expect(offline.wait() == nil && service.infoRequests == 1)
        try offline.spin("the files") { offline.files == [] }
    }

    @Test(
        "A download without room is tried again when its content may be smaller: on request, and after a day",
        arguments: [0, 1, 2])
    func smaller(way: Int) throws {
        let size = size
        let small = try Track("small", frames: 50_000, in: folder).file
        let offline = try DrivenOffline(in: state, service, now: 1_000_000) { $0.limits.bytes = size + size / 2 }
        try offline.keep(7)
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
        service.serve(small, as: "8", hash: "h2")
        let count = service.infoRequests
        offline.advance(by: 60_000_000_000)
        offline.answerReads()
        try offline.spin("the next wait") { offline.status(of: 8) == .waiting(.space) }
        #expect(service.infoRequests == count)
        switch way {
        case 0: #expect(!offline.engine.offline(OfflineFixture.product(8)))
        case 1: offline.engine.resume(OfflineFixture.product(8)) { _ in }
        default: offline.advance(by: 24 * 3_600_000_000_000)
        }
        try offline.log.wait(for: "done r8")
    }

    @Test("A product that was too large for the budget is downloaded on request when it has become small")
    func smallEnough() throws {
        let size = size
        let offline = try OfflineFixture(service) { $0.limits.bytes = size - 1 }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "failed a6 r7")
        service.serve(try Track("small", frames: 50_000, in: folder).file, as: "7", hash: "h2")
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "done r7")
    }

    @Test("A product larger than the budget fails with both numbers; it is requested once and leaves nothing")
    func tooLarge() throws {
        let size = size
        let offline = try OfflineFixture(service) { $0.limits.bytes = size - 1 }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.wait(for: "failed a6 r7")
        guard case .failed(let reason) = offline.status(of: 7) else { return #expect(Bool(false)) }
        let tenth = Double(1 << 20) / 10
        let (has, may) = ((Double(size) / tenth).rounded(.up) / 10, (Double(size - 1) / tenth).rounded(.down) / 10)
        #expect(reason.contains("\(has) MiB") && reason.contains("\(may) MiB"), "\(reason)")
        #expect(reason.contains("[offline] size"))
        #expect(offline.wait() == nil && service.infoRequests == 1)
        try offline.spin("the files") { offline.files == [] }
    }

    @Test("Nothing is removed for a download that would have no room even then")
    func removesNothingInVain() throws {
        let size = size
        let large = try Track("large", frames: 500_000, in: folder)
        service.serve(try large.file, as: "10")
        let offline = try OfflineFixture(service) { $0.limits.bytes = 3 * size }
        offline.engine.offline(OfflineFixture.product(7), isAutomatic: true) { _ in }
        try offline.wait(for: "done r7")
        for id in [8, 9] { try offline.keep(id) }
        #expect(offline.engine.offline(OfflineFixture.product(10)))
        try offline.spin("the wait") { offline.status(of: 10) == .waiting(.space) }
        #expect(service.contentRequests.last?.product == "10")
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
        // When this makes room, the automatic download does give way.
        #expect(offline.engine.deleteOffline(OfflineFixture.product(8)))
        #expect(offline.engine.deleteOffline(OfflineFixture.product(9)))
        try offline.wait(for: "deleted r7")
        try offline.wait(for: "done r10")
    }
}
