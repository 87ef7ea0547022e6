import Foundation
import PCM
import TestSupport

@testable import Playback
@testable import Player

/// A recording whose every sample is known, as a file.
package struct Track {
    package let product: MediaProduct
    package let format: PCMFormat
    /// Left-justified, interleaved.
    package let samples: [Int32]
    /// Has the file, as long as the recording is in use.
    private let folder: ScratchFolder

    package var frames: Int { samples.count / format.channelCount }
    package var duration: Double { Double(frames) / Double(format.sampleRate) }

    /// The bytes of its file.
    package var file: [UInt8] { get throws { try Array(Data(contentsOf: URL(fileURLWithPath: product.productId))) } }

    /// The samples from a frame on.
    package func samples(from frame: Int) -> [Int32] { Array(samples[(frame * format.channelCount)...]) }
    /// The samples of some frames.
    package func samples(_ range: Range<Int>) -> [Int32] {
        Array(samples[(range.lowerBound * format.channelCount)..<(range.upperBound * format.channelCount)])
    }

    private static let recordings = MadeOnce<[Int32]>()
    private static let files = MadeOnce<Data>()

    /// Encoded by `flac`. The name is also the product's reference.
    /// - Parameter folder: of the file; nil for one of its own.
    package init(
        _ name: String, frames: Int, rate: Int = 8000, channels: Int = 2, bits: Int = 16, tags: [String] = [],
        arguments: [String] = [], in folder: ScratchFolder? = nil
    ) throws {
        let folder = try folder ?? ScratchFolder()
        let format = PCMFormat(sampleRate: rate, channelCount: channels, bitDepth: bits)
        let samples = Self.recordings.value("\(name) \(frames * channels) \(bits)") {
            Track.noise(name, count: frames * channels, bits: bits)
        }
        let file = folder["\(name).flac"]
        let kind = "\(name) \(frames) \(rate) \(channels) \(bits) \(tags) \(arguments)"
        try Self.files.value(kind) { try Track.encoded(samples, format, tags: tags, arguments: arguments) }
            .write(to: URL(fileURLWithPath: file))
        self.format = format
        self.samples = samples
        self.folder = folder
        product = MediaProduct(productType: .track, productId: file, referenceId: name)
    }

    /// A recording that consists of others, one file after the other.
    package init(_ name: String, joining parts: [Track], in folder: ScratchFolder? = nil) throws {
        let folder = try folder ?? ScratchFolder()
        var bytes = Data()
        for part in parts { bytes += try part.file }
        let file = folder["\(name).flac"]
        try bytes.write(to: URL(fileURLWithPath: file))
        format = parts[0].format
        samples = parts.flatMap(\.samples)
        self.folder = folder
        product = MediaProduct(productType: .track, productId: file, referenceId: name)
    }

    /// Noise that differs from name to name, and no two neighbouring samples of which are alike.
    package static func noise(_ name: String, count: Int, bits: Int) -> [Int32] {
        var state = name.utf8.reduce(0x9E37_79B9_7F4A_7C15 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return (Int32(truncatingIfNeeded: state >> 16) >> Int32(32 - bits)) << Int32(32 - bits)
        }
    }

    private static func encoded(
        _ samples: [Int32], _ format: PCMFormat, tags: [String], arguments: [String]
    ) throws -> Data {
        let folder = try ScratchFolder()
        let (raw, file) = (folder["raw"], folder["flac"])
        let width = format.bitDepth / 8
        var bytes = Data(capacity: samples.count * width)
        for sample in samples {
            let value = UInt32(bitPattern: sample >> Int32(32 - format.bitDepth))
            for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index))) }
        }
        try bytes.write(to: URL(fileURLWithPath: raw))
        let flac = try TestProcess.run(
            "/usr/bin/flac",
            [
                "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed",
                "--channels=\(format.channelCount)",
                "--bps=\(format.bitDepth)", "--sample-rate=\(format.sampleRate)", "-o", file,
            ] + tags.map { "--tag=\($0)" } + arguments + [raw])
        guard flac.code == 0 else { throw Unexpected("flac: \(flac.errors)") }
        return try Data(contentsOf: URL(fileURLWithPath: file))
    }
}
