import Foundation
import Platform
import TestSupport
import Testing

@testable import Playback
@testable import Player
@testable import Queue

@Suite("A missing medium is no missing file")
struct MissingMediumTests {
    @Test("Only what is not mounted any more is missing, and only for the files below it")
    func media() {
        let media = MusicMedia(["/mnt/usb", "/srv/music", "/mnt/usb"])
        #expect(media.mountPoints == ["/mnt/usb", "/srv/music"])
        func isMissing(_ file: String) -> Bool { media.isMissing(for: file) { $0 == "/srv/music" } }
        #expect(isMissing("/mnt/usb/a.flac") && isMissing("/mnt/usb/b/c.flac"))
        #expect(!isMissing("/mnt/usb2/a.flac") && !isMissing("/srv/music/a.flac") && !isMissing("/mnt/usb"))
        var many = MusicMedia()
        for number in 0..<100 { many.add(["/\(number)"]) }
        #expect(many.mountPoints.count == MusicMedia.limit && many.mountPoints.last == "/99")
    }

    @Test("A file that is gone from a medium that is mounted is gone")
    func mounted() throws {
        // A separate file system on every Linux.
        try #require(MountPoint.isMounted("/dev/shm"))
        let folder = "/dev/shm/tonearm-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data().write(to: URL(fileURLWithPath: "\(folder)/other.flac"))
        let product = MediaProduct(productType: .track, productId: "\(folder)/gone.flac", referenceId: "")
        let cause = PlayerError.Cause.system(SystemError(code: ENOENT, operation: "open"))
        let error = PlayerError(.unexpected, cause, message: "", mediaProduct: product)
        #expect(!MissingMedium.isReason(for: error, MusicMedia(["/dev/shm"])))
        #expect(MissingMedium.isReason(for: error, MusicMedia([folder])), "where nothing is mounted")
    }

    @Test(
        "A file that is gone or broken, or not ours to read, is no missing medium",
        arguments: [
            (ENOENT, false), (EACCES, false), (nil, false), (EIO, true), (ENODEV, true), (ESTALE, true),
            // Each other entry would fail too.
            (EMFILE, true), (ENFILE, true), (EAGAIN, true), (ENOMEM, true),
        ] as [(Int32?, Bool)])
    func errors(code: Int32?, isMissing: Bool) throws {
        let folder = try ScratchFolder()
        try Data().write(to: URL(fileURLWithPath: folder["a.flac"]))
        let product = MediaProduct(productType: .track, productId: folder["gone.flac"], referenceId: "")
        let cause: PlayerError.Cause =
            code.map { .system(SystemError(code: $0, operation: "read")) } ?? .media(.notAudio(looksLike: nil))
        let error = PlayerError(.unexpected, cause, message: "", mediaProduct: product)
        #expect(MissingMedium.isReason(for: error) == isMissing)
        // A track of a cue sheet that is gone, and of one that is there.
        try Data().write(to: URL(fileURLWithPath: folder["there.cue"]))
        for name in ["gone.cue/track0001", "there.cue/track0001", "gone.flac/track0001"] {
            let track = MediaProduct(productType: .track, productId: folder[name], referenceId: "")
            let error = PlayerError(.unexpected, cause, message: "", mediaProduct: track)
            #expect(MissingMedium.isReason(for: error) == isMissing, "\(name)")
        }
    }
}
