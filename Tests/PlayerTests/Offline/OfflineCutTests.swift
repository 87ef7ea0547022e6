import Database
import Foundation
import Media
import Network
import OfflineTestSupport
import Platform
import TestSupport
import Testing

@testable import Player

@Suite("A power cut while something is kept (docs/playback.md, 16.4)", .serialized)
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

    /// Cuts at file calls of a download, a validation, another download and a deletion: `TONEARM_CUTS` of them, spread
    /// over all, every other one with the loss of what is not synced.
    @Test("Nothing that was promised is lost, nothing lies, and the job ends well")
    func cuts() throws {
        let whole = try run(call: -1, "keep", in: try ScratchFolder())
        try #require(whole.code == 0, "\(whole.promises)")
        let calls = try countCalls()
        let wanted = ProcessInfo.processInfo.environment["TONEARM_CUTS"].flatMap { Int($0) } ?? 100
        let step = max(1, 2 * calls / wanted)
        for call in stride(from: 0, to: calls, by: step) {
            for mode in ["keep", "lose"] {
                let state = try ScratchFolder()
                let run = try run(call: call, mode, in: state)
                try #require(run.code == 99 || run.code == 0, "call \(call), \(mode): \(run)")
                try check(state, run.promises, "call \(call), \(mode)")
            }
        }
    }

    /// The number of file calls of a whole run, give or take what depends on the order of threads.
    private func countCalls() throws -> Int {
        var (low, high) = (1, 4096)
        while low < high {
            let middle = (low + high + 1) / 2
            if try run(call: middle, "keep", in: try ScratchFolder()).code == 99 {
                low = middle
            } else {
                high = middle - 1
            }
        }
        return low
    }

    private func run(call: Int, _ mode: String, in state: ScratchFolder) throws -> (code: Int32, promises: [String]) {
        let process = Process()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(fileURLWithPath: "\(Folder.containing(tests))/OfflineWriter")
        process.arguments = [state.path, first, second, "\(call)", mode]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text.split(separator: "\n").map(String.init))
    }

    /// The next start finds what was promised, and finishes what was begun.
    private func check(_ state: ScratchFolder, _ promises: [String], _ cut: String) throws {
        let service = KeptService()
        let isSecond = promises.contains("serving SECOND")
        service.serve(
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: isSecond ? second : first))), as: "7",
            hash: isSecond ? "h2" : "h1")
        service.setDates(revalidateAt: 3_000_000, validUntil: 4_000_000)
        let offline = try OfflineFixture(in: state, service, now: isSecond ? 1_000_400 : 1_000_000)
        if promises.contains("deleted") {
            #expect(offline.entries() == [], "\(cut)")
            try offline.spin("the files") { offline.files == [] }
            return
        }
        if promises.contains("kept FIRST"), !promises.contains("deleting") {
            // What was kept plays at once, whatever is being done to it.
            #expect(offline.engine.getOfflineState(product) == .offlinedAndValid, "\(cut)")
        }
        if !promises.contains("asked") || promises.contains("deleting") {
            // The request may have been on the medium already, or still.
            if offline.entries().isEmpty { return }
        }
        try offline.spin("the end of all jobs after \(cut)") {
            let entries = offline.entries()
            return entries.count == 1 && entries[0].status == .kept && offline.files.count == 1
        }
        let stored = offline.store.waitToRead { (rows) throws(DatabaseError) in
            try rows.item(ServiceAddress(.track, "7"))
        }
        let item = try #require(stored ?? nil)
        let expected = [UInt8](
            try Data(contentsOf: URL(fileURLWithPath: item.fingerprint == Array("h2".utf8) ? second : first)))
        #expect(try bytes(of: KeptBytes(item, offline.store)) == expected, "\(cut)")
    }

    private func bytes(of source: KeptBytes) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while case .bytes(let count) = try source.read(into: buffer, at: Int64(bytes.count)) {
            bytes += buffer[..<count]
        }
        return bytes
    }
}
