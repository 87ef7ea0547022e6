import Foundation
import Platform
import TestSupport
import Testing

/// A track in MP4, encrypted by ffmpeg.
package enum EncryptedTrack {
    package static let key = [UInt8](1...16)

    /// A track in MP4, encrypted by ffmpeg with `key`. The ID of the key is zero.
    package static func file(of track: Track, in folder: ScratchFolder) throws -> [UInt8] {
        let result = try TestProcess.run(
            "/usr/bin/ffmpeg",
            [
                "-loglevel", "error", "-y", "-i", track.product.productId, "-c:a", "flac", "-strict", "-2",
                "-encryption_scheme", "cenc-aes-ctr", "-encryption_key", hexadecimal(key),
                "-encryption_kid", hexadecimal([UInt8](repeating: 0, count: 16)), "\(folder.path)/encrypted.mp4",
            ])
        try #require(result.code == 0, "\(result.errors)")
        return [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/encrypted.mp4")))
    }
}
