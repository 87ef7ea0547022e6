import Foundation
import Platform
import TestSupport
import Testing

@Suite("An album of the origin")
struct PlayedAlbumTests {
    @Test("`play tonearm:album/1` plays its tracks in their order; without a service it says what is missing")
    func plays() throws {
        let folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        let tracks = [Music(frames: 20_000, seed: 1), Music(frames: 30_000, seed: 2)]
        for (number, track) in tracks.enumerated() {
            try track.writeFLAC(
                to: folder["music/\(9 - number).flac"], ["--tag=ALBUM=A", "--tag=TRACKNUMBER=\(number + 1)"])
        }
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        func play(_ options: [String]) throws -> TestProcess.Result {
            try TestProcess.run(
                TestProcess.path(of: "tonearm"),
                ["play", "--device", "file:FILE=\(folder["out"]),FORMAT=raw", "--format", "S16_LE"] + options,
                environment: Sanitizer.environment.merging(["XDG_STATE_HOME": folder["home"]]) { $1 })
        }
        let result = try play(["--service", origin.address, "tonearm:album/1"])
        #expect(result.code == 0, "\(result.errors)")
        let heard = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder["out"])))
        #expect(heard == tracks[0].samples() + tracks[1].samples())
        let alone = try play(["tonearm:album/1"])
        #expect(alone.code == 1 && alone.errors.contains("--service"))
        let missing = try play(["--service", origin.address, "tonearm:album/9"])
        #expect(missing.code == 1 && missing.errors.contains("tonearm:album/9"))
    }
}
