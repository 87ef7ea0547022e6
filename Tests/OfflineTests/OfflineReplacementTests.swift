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

@Suite("Room for what replaces an offline copy (docs/playback.md, 16.5)", .serialized)
struct OfflineReplacementTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let other: [UInt8]
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        file = try Track("a", frames: 200_000, in: folder).file
        other = try Track("b", frames: 200_000, in: folder).file
        for id in ["7", "8", "9"] { service.serve(file, as: id) }
    }

    private var size: Int64 { Int64(file.count) }

    /// The state with these products.
    private func kept(_ ids: Int...) throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        for id in ids { try offline.keep(id) }
        return offline.folder
    }

    private func usedBytes(_ offline: OfflineFixture) -> Int64 {
        let answer = AwaitedValue<Int64>()
        offline.engine.status { answer.set($0?.usedBytes ?? -1) }
        return answer.wait()
    }

    @Test("A product whose file is gone comes back in a budget of 1.4 times its size")
    func missing() throws {
        let state = try kept(7)
        try FileManager.default.removeItem(atPath: try onlyOfflineCopy(in: state["offline"]))
        let budget = size * 14 / 10
        let offline = try OfflineFixture(in: state, service) { $0.limits.bytes = budget }
        try offline.wait(for: "done r7")
        #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
        #expect(usedBytes(offline) == size)
    }

    @Test("A copy that was lost with the device's key comes back in a budget with room for no other product")
    func lostKey() throws {
        let state = try kept(7, 8, 9)
        try FileManager.default.removeItem(atPath: state["device.key"])
        let budget = size * 13 / 4
        let offline = try OfflineFixture(in: state, service) { $0.limits.bytes = budget }
        for id in [7, 8, 9] { try offline.wait(for: "done r\(id)") }
        #expect(offline.lostCount() == 0 && usedBytes(offline) == 3 * size)
        try offline.spin("the old files") { offline.files.count == 3 }
    }

    @Test("Other content of a copy that has expired, or plays, needs the difference", arguments: [true, false])
    func otherContent(isExpired: Bool) throws {
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
        let state = try kept(7)
        service.serve(other, as: "7", hash: "h2")
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let budget = max(size, Int64(other.count)) * 14 / 10
        let offline = try OfflineFixture(in: state, service, now: isExpired ? 1_000_300 : 1_000_150) {
            $0.limits.bytes = budget
        }
        try offline.wait(for: "done r7")
        #expect(usedBytes(offline) == Int64(other.count))
    }

    @Test("A replacement that is not larger has room also where the copies are more than the budget")
    func overBudget() throws {
        let state = try kept(7)
        try FileManager.default.removeItem(atPath: try onlyOfflineCopy(in: state["offline"]))
        do {
            let offline = try OfflineFixture(in: state, service, link: nil)
            try offline.spin("the damage") { offline.entries().last?.status == .damaged }
            offline.engine.pause(product) { _ in }
            offline.player.linkChanged(to: Link(.ethernet))
            try offline.keep(8)
        }
        let budget = size + size / 2
        let offline = try OfflineFixture(in: state, service) { $0.limits.bytes = budget }
        offline.engine.resume(product) { _ in }
        try offline.wait(for: "done r7")
    }

    @Test("A larger replacement waits for the difference, and the copy stays")
    func larger() throws {
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
        let state = try kept(7, 8)
        let large = try Track("large", frames: 350_000, in: folder).file
        service.serve(large, as: "7", hash: "h2")
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        let budget = 2 * size + size / 4
        let offline = try OfflineFixture(in: state, service, now: 1_000_300) { $0.limits.bytes = budget }
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.space) }
        #expect(offline.files.count == 2)
        #expect(offline.engine.deleteOffline(OfflineFixture.product(8)))
        try offline.wait(for: "done r7")
    }

    @Test("A part of a replacement takes the place of no other product")
    func part() throws {
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
        let state = try kept(7)
        service.serve(other, as: "7", hash: "h2")
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        service.hang(after: other.count * 3 / 4)
        let budget = 2 * max(size, Int64(other.count)) + size / 4
        let offline = try OfflineFixture(in: state, service, now: 1_000_150) { $0.limits.bytes = budget }
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        try offline.wait(for: "75 r7")
        offline.engine.pause(product) { _ in }
        try offline.spin("the pause") { service.hangingTransfers == 0 }
        service.hang(after: nil)
        try offline.keep(8)
        offline.engine.resume(product) { _ in }
        try offline.wait(for: "done r7")
    }

    @Test(
        "On a medium without room for both, a copy that cannot be played goes first, and one that plays stays",
        .enabled(if: Medium.isAvailable), arguments: [true, false])
    func medium(isDamaged: Bool) throws {
        let long = try Track("long", frames: 1_400_000, in: folder).file
        try #require(long.count > 5 << 20)
        service.serve(long, as: "7")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_900)
        let state = try ScratchFolder()
        let medium = try Medium(at: state["offline"], kilobytes: 18 << 10)
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.keep(7)
        }
        // The free space is not enough for another one.
        let left = try Folder.freeBytes(at: medium.path) - Int64(long.count) * 3 / 4
        #expect(FileManager.default.createFile(atPath: "\(medium.path)/other", contents: Data(count: Int(left))))
        if isDamaged {
            try flipBit(ofFile: try onlyOfflineCopy(in: state["offline"])) { $0 / 2 }
        } else {
            service.serve(long, as: "7", hash: "h2")
        }
        let offline = try OfflineFixture(in: state, service, now: isDamaged ? 1_000_000 : 1_000_200)
        if isDamaged {
            #expect(offline.verify(7) == .damaged)
            try offline.wait(for: "done r7")
        } else {
            try offline.spin("the wait") { offline.entries().first?.status == .waiting(.space) }
            #expect(offline.engine.getOfflineState(product) == .offlinedAndValid)
            #expect(offline.files.count == 1)
        }
        withExtendedLifetime(medium) {}
    }

    @Test(
        "At the free space that has to stay, a replacement has room: it is free again at the end",
        .enabled(if: Medium.isAvailable), arguments: [true, false])
    func floor(isGone: Bool) throws {
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_900)
        let state = try ScratchFolder()
        let medium = try Medium(at: state["offline"], kilobytes: 32 << 10)
        do {
            let offline = try OfflineFixture(in: state, service)
            try offline.keep(7)
        }
        let floor = try Folder.freeBytes(at: medium.path)
        if isGone {
            try FileManager.default.removeItem(atPath: try onlyOfflineCopy(in: medium.path))
        } else {
            service.serve(file, as: "7", hash: "h2")
        }
        let offline = try OfflineFixture(in: state, service, now: isGone ? 1_000_000 : 1_000_200) {
            $0.limits.freeBytes = floor
        }
        try offline.wait(for: "done r7")
        // Another product has none.
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        try offline.spin("the wait") { offline.status(of: 8) == .waiting(.space) }
    }
}

@Suite("The sizes in the rows (docs/playback.md, 16.5)", .serialized)
struct OfflineSizeTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        file = try Track("a", frames: 200_000, in: folder).file
        for id in ["7", "8", "9"] { service.serve(file, as: id) }
    }

    private var size: Int64 { Int64(file.count) }

    private func usedBytes(_ offline: OfflineFixture) -> Int64 {
        let answer = AwaitedValue<Int64>()
        offline.engine.status { answer.set($0?.usedBytes ?? -1) }
        return answer.wait()
    }

    private func change(_ state: ScratchFolder, _ sql: String) throws {
        let database = try Database(path: state["tonearm.db"])
        try database.execute(sql)
    }

    @Test(
        "The row is right where the file is short or missing, and the file where the row cannot be",
        arguments: [
            (10 << 20, 4_000_000, 10 << 20), (10 << 20, 0, 10 << 20), (100 << 20, 0, 0), (1 << 62, 1000, 1000),
            (-5, 1000, 1000), (.max, .max, 0), ((1 << 20) + (1 << 33), 1 << 20, 1 << 20), (1000, 1001, 1001),
            (1000, 1000, 1000), (1 << 20 | 1 << 63, 1 << 20, 1 << 20),
        ] as [(Int64, Int64, Int64)])
    func corrected(recorded: Int64, actual: Int64, wanted: Int64) {
        #expect(OfflineSize.corrected(recorded, actual: actual, budget: 64 << 20) == wanted)
    }

    @Test("A flipped bit in a size is damage, and takes no room", arguments: [21, 40, 62, 63])
    func flipped(bit: Int) throws {
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            for id in [7, 8] { try offline.keep(id) }
            state = offline.folder
        }
        try change(
            state, "UPDATE offline_item SET count = \(size ^ (1 << Int64(bit))) WHERE product = 'tonearm:track/7'")
        let budget = 3 * size + size / 2
        let offline = try OfflineFixture(in: state, service, link: nil) { $0.limits.bytes = budget }
        try offline.wait(for: "failed m7 r7")
        #expect(usedBytes(offline) == 2 * size)
        #expect(offline.entries().map { $0.bytes } == [0, size, size])
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.wait(for: "done r7")
        try offline.keep(9)
        #expect(usedBytes(offline) == 3 * size)
        #expect(offline.engine.deleteAllOfflines() && usedBytes(offline) == 0)
    }

    @Test(
        "A damaged total, or size of a part, keeps no download waiting", arguments: [1 << 62, -1, 1 << 35] as [Int64])
    func parts(wrong: Int64) throws {
        let state = try ScratchFolder()
        do {
            let offline = try OfflineFixture(in: state, service) { $0.recordInterval = 65_536 }
            try offline.downloadPart(of: 7, file, percent: 50)
            offline.engine.pause(OfflineFixture.product(7)) { _ in }
            try offline.spin("the end of the transfer") { service.hangingTransfers == 0 }
        }
        try change(state, "UPDATE offline_job SET synced = \(wrong)")
        try change(state, "UPDATE offline_total SET bytes = \(wrong)")
        let budget = 2 * size + size / 4
        let offline = try OfflineFixture(in: state, service) { $0.limits.bytes = budget }
        try offline.spin("the end of the part") { usedBytes(offline) == 0 }
        try offline.keep(8)
        offline.engine.resume(OfflineFixture.product(7)) { _ in }
        try offline.wait(for: "done r7")
        #expect(usedBytes(offline) == 2 * size)
        try offline.spin("the files") { offline.files.count == 2 }
    }
}
