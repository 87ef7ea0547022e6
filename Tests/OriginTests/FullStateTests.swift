import Foundation
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite(
    "A state folder that cannot be written", .enabled(if: Medium.isAvailable, "needs to mount file systems"))
struct FullStateTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
    }

    private func write(_ name: String) throws {
        try Music(frames: 200_000).writeFLAC(to: folder["music/\(name).flac"], ["--tag=TITLE=\(name)"])
    }

    /// Enough for the index to need more of the medium than it has already.
    private func writeMuch() throws {
        for number in 0..<10 {
            try Music(frames: 1000).writeFLAC(
                to: folder["music/new\(number).flac"], ["--tag=TITLE=" + String(repeating: "x", count: 30_000)])
        }
    }

    @Test("Known tracks are served, in segments too that cannot be stored")
    func served() throws {
        let medium = try Medium(at: folder["state"], kilobytes: 2048)
        try write("a")
        let origin = try RunningOrigin(
            folder["music"], state: folder["state"], options: ["--ffmpeg", "none"], errors: .pipe)
        medium.fill()
        try writeMuch()
        try origin.errorLine { $0.contains("it is tried again each minute") }
        let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?manifest=dash")
        #expect(info.status == 200)
        let manifest = try info.manifest()
        let start = try #require(manifest.range(of: " media=\"")).upperBound
        let address = String(manifest[start...].prefix { $0 != "\"" }).replacing("$Number$", with: "1")
        #expect(try Fetched(address).status == 200)
    }

    @Test("A scan that fails is told once, and is made up for when there is room again")
    func madeUpFor() throws {
        let medium = try Medium(at: folder["state"], kilobytes: 2048)
        try write("a")
        let origin = try ContentOrigin(musicFolder: folder["music"], stateFolder: folder["state"])
        _ = try origin.scan()
        try writeMuch()
        medium.fill()
        let cancellation = try Cancellation()
        var (failures, results): ([String], [ContentOrigin.ScanResult]) = ([], [])
        try origin.follow(cancellation, retryInterval: 50) { result in
            results.append(result)
            cancellation.cancel()
        } failed: { failure in
            failures.append(failure.description)
            medium.empty()
        }
        #expect(failures.count == 1 && failures.first?.hasPrefix("index: ") == true)
        #expect(results.map(\.tracks) == [11])
    }
}
