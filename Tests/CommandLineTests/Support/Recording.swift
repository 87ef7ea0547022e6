import Foundation
import TestSupport
import Testing

/// Stereo, 16 bit, 44.1 kHz: a tone with noise on it, so that no two places are alike; as samples and as real files.
struct Recording {
    static let rate = 44_100
    static let bytesPerFrame = 4

    /// Little-endian samples, as a device takes them with S16_LE.
    let bytes: [UInt8]

    init(frames: Int, seed: UInt32 = 1) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frames * Self.bytesPerFrame)
        var state = seed
        for frame in 0..<frames {
            for channel in 0..<2 {
                state = state &* 1_664_525 &+ 1_013_904_223
                let period = 200 + 31 * channel
                let sample = Int16(frame % period * 100 - 10_000) + Int16(truncatingIfNeeded: state >> 24)
                bytes.append(UInt8(truncatingIfNeeded: sample))
                bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
            }
        }
        self.bytes = bytes
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The frames of a range, as a separate recording.
    func part(_ frames: Range<Int>) -> Recording {
        Recording(bytes: Array(bytes[frames.lowerBound * Self.bytesPerFrame..<frames.upperBound * Self.bytesPerFrame]))
    }

    /// Makes a file of it with the real encoder.
    /// - Parameter tags: like `TITLE=…`.
    func encode(to path: String, tags: [String] = []) throws {
        let raw = path + ".raw"
        try Data(bytes).write(to: URL(fileURLWithPath: raw))
        defer { try? FileManager.default.removeItem(atPath: raw) }
        let flac = try TestProcess.run(
            "/usr/bin/flac",
            [
                "--totally-silent", "--force", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2",
                "--bps=16", "--sample-rate=\(Self.rate)", "-o", path,
            ] + tags.map { "--tag=\($0)" } + [raw])
        try #require(flac.code == 0, "\(flac.errors)")
    }
}
