import Crypto
import Database
import Foundation
import Media
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("A power cut during a download (docs/playback.md, 16.4)", .serialized)
struct OfflineCutTests {
    private let folder: ScratchFolder
    private let first: String
    private let second: String
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        first = try Track("first", frames: 60_000, in: folder).product.productId
        second = try Track("second", frames: 50_000, in: folder).product.productId
    }

    /// The work of `CutProgram offline`. Each of its file calls belongs to one of them.
    private enum Scenario: String, CaseIterable {
        case download, validation, replacement, deletion
    }

    private struct Tally {
        var cuts = 0
        /// How many cuts were followed by a download that continued after its first byte.
        var continuations = 0
    }

    /// Where downloads are interrupted by a restart, in bytes; another offset in each round.
    private static let stops = [150_000, 40_000, 190_000, 100_000, 70_000, 170_000, 130_000, 20_000]

    /// Makes at least `TONEARM_CUTS` cuts. They are at file calls that are spread over all scenarios, or at all of
    /// them. Each is made with and without the loss of data that is not synced. When these are not enough, downloads
    /// stop at other offsets.
    @Test("Nothing that was promised is lost, nothing lies, and the download ends well")
    func cuts() throws {
        let wanted = ProcessInfo.processInfo.environment["TONEARM_CUTS"].flatMap { Int($0) } ?? 100
        var tally = Tally()
        for stop in Self.stops where tally.cuts < wanted { try cut(stoppingAt: stop, wanted: wanted, &tally) }
        #expect(tally.cuts >= wanted)
        #expect(tally.continuations > 0)
    }

    private func cut(stoppingAt stop: Int, wanted: Int, _ tally: inout Tally) throws {
        var counts: [Int] = []
        for scenario in Scenario.allCases { counts.append(try countCalls(scenario, stop)) }
        let step = max(1, 2 * counts.reduce(0, +) / (wanted - tally.cuts))
        for (scenario, count) in zip(Scenario.allCases, counts) {
            for call in stride(from: 0, to: count, by: step) {
                for mode in ["keep", "lose"] {
                    let state = try ScratchFolder()
                    let run = try run(scenario, stop, call: call, mode, in: state)
                    let cut = "\(scenario) stopping at \(stop), call \(call), \(mode)"
                    // A run may have fewer calls than the one that was counted.
                    try #require(run.code == 99 || run.code == 0, "\(cut): \(run)")
                    if run.code == 99 { tally.cuts += 1 }
                    if try check(state, run.promises, cut) { tally.continuations += 1 }
                }
            }
        }
    }

    @Test("How far a download is stands in the database while it runs")
    func records() throws {
        let service = OfflineTestService()
        let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: first)))
        service.serve(file, as: "7")
        let offline = try OfflineFixture(service) { $0.recordInterval = 64 << 10 }
        let arrived = try offline.downloadPart(file, percent: 75)
        let download = try #require(stored(offline).download)
        let chunk = SealedLayout.chunkCount
        #expect(download.progress?.synced == Int64(arrived / chunk * chunk))
    }

    /// The number of file calls of a scenario, except for variations by the order of threads.
    private func countCalls(_ scenario: Scenario, _ stop: Int) throws -> Int {
        let run = try run(scenario, stop, call: -1, "keep", in: try ScratchFolder())
        try #require(run.code == 0, "\(scenario): \(run.promises)")
        let words = run.promises.last?.split(separator: " ") ?? []
        try #require(words.count == 2 && words[0] == "calls", "\(scenario): \(run.promises)")
        return try #require(Int(words[1]))
    }

    private func run(
        _ scenario: Scenario, _ stop: Int, call: Int, _ mode: String, in state: ScratchFolder
    ) throws -> (code: Int32, promises: [String]) {
        let result = try WriterProcess.run(
            "offline", state.path, first, second, scenario.rawValue, "\(stop)", "\(call)", mode)
        return (result.code, result.text.split(separator: "\n").map(String.init))
    }

    /// Checks that the next start finds the promised state, and finishes the work that was begun.
    /// - Returns: whether a download continued after its first byte.
    private func check(_ state: ScratchFolder, _ promises: [String], _ cut: String) throws -> Bool {
        let service = OfflineTestService()
        let isSecond = promises.contains("serving SECOND")
        let hash = isSecond ? "h2" : "h1"
        let fingerprint = Array(hash.utf8)
        let content = [UInt8](try Data(contentsOf: URL(fileURLWithPath: isSecond ? second : first)))
        service.serve(content, as: "7", hash: hash)
        service.setDates(revalidateAt: 3_000_000, validUntil: 4_000_000)
        // Without a network, the state does not change yet.
        let offline = try OfflineFixture(in: state, service, link: nil, now: isSecond ? 1_000_400 : 1_000_000)
        let found = stored(offline)
        if promises.contains("deleted") {
            #expect(offline.entries() == [], "\(cut)")
            try offline.spin("the files") { offline.files == [] }
            return false
        }
        let isDeleting = promises.contains("deleting")
        if promises.contains("kept FIRST"), !isDeleting {
            // An offline copy plays at once, also while it is validated, replaced or deleted.
            #expect(offline.engine.getOfflineState(product) == .offlinedAndValid, "\(cut)")
        }
        if promises.contains("validated") { #expect(found.item?.validity.validUntil == 2_000_000, "\(cut)") }
        if promises.contains("kept SECOND") { #expect(found.item?.fingerprint == Array("h2".utf8), "\(cut)") }
        if found.item == nil, found.download == nil {
            // The request may not be on the medium yet, or not any more.
            #expect(!promises.contains("asked") || isDeleting, "\(cut): the download is lost")
            try offline.spin("the files") { offline.files == [] }
            return false
        }
        offline.player.linkChanged(to: Link(.ethernet))
        try offline.spin("the end of all downloads after \(cut)") {
            let entries = offline.entries()
            return entries.count == 1 && entries[0].status == .complete && offline.files.count == 1
                // The first one stays until the second is there.
                && stored(offline).item?.fingerprint == fingerprint
        }
        // No byte is fetched that was recorded, and every other one once.
        var synced: Int64 = 0
        if let progress = found.download?.progress, progress.fingerprint == fingerprint { synced = progress.synced }
        let isFetched = found.download != nil || found.item?.fingerprint != fingerprint
        let expectedRequests: [Int] = isFetched ? [Int(synced)] : []
        #expect(service.contentRequests.map { $0.from } == expectedRequests, "\(cut)")
        let item = try #require(stored(offline).item)
        let isWhole = try bytes(of: OfflineCopyBytes(item, offline.store)) == content
        #expect(isWhole, "\(cut)")
        return synced > 0
    }

    /// The rows of the product in the database.
    private func stored(_ offline: OfflineFixture) -> (item: OfflineItem?, download: QueuedDownload?) {
        let address = ServiceAddress(.track, "7")
        let item = offline.store.waitToRead { (rows) throws(DatabaseError) in try rows.item(address) }
        let download = offline.store.waitToRead { (rows) throws(DatabaseError) in try rows.download(address) }
        return (item ?? nil, download ?? nil)
    }

    private func bytes(of source: OfflineCopyBytes) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while case .bytes(let count) = try source.read(into: buffer, at: Int64(bytes.count)) {
            bytes += buffer[..<count]
        }
        return bytes
    }
}
