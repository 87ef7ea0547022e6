import Foundation
import Media
import PCM
import Platform
import TestSupport
import Testing

@testable import Playback
@testable import Player

/// Tracks of cue sheets, opened as the player opens them.
package struct SheetFixture {
    package let folder: ScratchFolder

    package init() throws { folder = try ScratchFolder() }

    package func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    package func write(_ bytes: Data, to name: String) throws {
        let parent = (folder[name] as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try bytes.write(to: URL(fileURLWithPath: folder[name]))
    }

    package func open(_ name: String) throws -> OpenedProduct {
        try LocalFiles().open(
            MediaProduct(productType: .track, productId: folder[name], referenceId: name), session: PlaybackSession(),
            cancellation: try Cancellation(), medium: MediumAccess())
    }

    package func error(_ name: String) -> PlayerError? {
        do { _ = try open(name) } catch { return error as? PlayerError }
        return nil
    }

    package func samples(_ name: String) throws -> [Int32] { try Self.samples(of: try open(name).decoder) }

    package static func samples(of decoder: any AudioDecoder) throws -> [Int32] {
        var samples: [Int32] = []
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 4096 * 8)
        defer { buffer.deallocate() }
        while case .frames(let count) = try decoder.read(into: buffer) {
            samples += buffer[..<(count * decoder.properties.format.channelCount)]
        }
        return samples
    }

    /// The file, encoded by ffmpeg from another one.
    package func encode(_ source: String, _ options: [String], to name: String) throws {
        let result = try TestProcess.run(
            "/usr/bin/ffmpeg", ["-v", "error", "-y", "-i", folder[source]] + options + [folder[name]])
        try #require(result.code == 0, "\(result.errors)")
    }

    package static let needsFFmpeg = ConditionTrait.enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ffmpeg"), "needs `ffmpeg`: apt-get install ffmpeg")
    package static let needsFLAC = ConditionTrait.enabled(
        if: FileManager.default.isExecutableFile(atPath: "/usr/bin/flac"), "needs `flac`: apt-get install flac")
}
