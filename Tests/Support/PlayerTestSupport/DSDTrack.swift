import Foundation
import Media
import PCM
import Platform
import TestSupport

@testable import Playback
@testable import Player

/// A file of DSD whose every bit is known.
package struct DSDTrack {
    package let product: MediaProduct
    package let channelCount: Int
    package let rate: Int
    /// The bytes of each channel, with the oldest bit at the top.
    private let channels: [[UInt8]]

    /// - Parameters:
    ///   - name: also the product's reference. Its ending chooses the format: DSF, or DFF.
    ///   - byteCount: of each channel.
    package init(
        _ name: String, bytes byteCount: Int, rate: Int = 2_822_400, channels channelCount: Int = 2,
        in folder: ScratchFolder
    ) throws {
        self.channelCount = channelCount
        self.rate = rate
        var random = SeededRandom(name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        channels = (0..<channelCount).map { _ in (0..<byteCount).map { _ in .random(in: 0...255, using: &random) } }
        let bytes = name.hasSuffix(".dff") ? Self.dff(channels, rate) : Self.dsf(channels, rate)
        try Data(bytes).write(to: URL(fileURLWithPath: folder[name]))
        product = MediaProduct(productType: .track, productId: folder[name], referenceId: name)
    }

    /// Frames of words; the last one may be half of the file.
    package var frames: Int { (channels[0].count + 1) / 2 }
    package var frameRate: Int { rate / 16 }

    /// The words of all channels in turn, from a frame on.
    package func words(from frame: Int = 0) -> [UInt32] {
        (frame..<frames).flatMap { frame in
            channels.map { bytes in
                UInt32(bytes[2 * frame]) << 8 | (2 * frame + 1 < bytes.count ? UInt32(bytes[2 * frame + 1]) : 0x69)
            }
        }
    }

    /// The samples that a card of 24 or 32 bits gets, left-justified.
    package static func packed(_ words: [UInt32], channels: Int) -> [Int32] {
        words.enumerated().map { index, word in
            Int32(bitPattern: (index / channels % 2 == 0 ? 0x05 : 0xFA) << 24 | word << 8)
        }
    }

    package var packed: [Int32] { Self.packed(words(), channels: channelCount) }

    /// The samples of the file as PCM.
    package func pcm() throws -> [Int32] {
        let opened = try LocalFiles().open(
            product, session: PlaybackSession(), cancellation: try Cancellation(), medium: MediumAccess())
        return try SheetFixture.samples(of: opened.decoder)
    }

    private static func little(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func big(_ value: Int, _ size: Int) -> [UInt8] { little(value, size).reversed() }

    private static func dsf(_ channels: [[UInt8]], _ rate: Int) -> [UInt8] {
        var data: [UInt8] = []
        for start in stride(from: 0, to: channels[0].count, by: 4096) {
            for channel in channels {
                let block = channel[start..<min(start + 4096, channel.count)]
                data += block.map { byte in (0..<8).reduce(0) { $0 | (byte >> UInt8($1) & 1) << UInt8(7 - $1) } }
                data += [UInt8](repeating: 0, count: 4096 - block.count)
            }
        }
        let size = 92 + data.count
        let head = Array("DSD ".utf8) + little(28, 8) + little(size, 8) + little(0, 8)
        let format =
            Array("fmt ".utf8) + little(52, 8) + little(1, 4) + little(0, 4) + little(channels.count, 4)
            + little(channels.count, 4) + little(rate, 4) + little(1, 4) + little(channels[0].count * 8, 8)
            + little(4096, 4) + little(0, 4)
        return head + format + Array("data".utf8) + little(12 + data.count, 8) + data
    }

    private static func dff(_ channels: [[UInt8]], _ rate: Int) -> [UInt8] {
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            Array(name.utf8) + big(content.count, 8) + content + (content.count % 2 == 1 ? [0] : [])
        }
        let names = ["SLFT", "SRGT"].prefix(channels.count).flatMap { Array($0.utf8) }
        let properties =
            Array("SND ".utf8) + chunk("FS  ", big(rate, 4)) + chunk("CHNL", big(channels.count, 2) + names)
            + chunk("CMPR", Array("DSD ".utf8) + [3] + Array("not".utf8))
        let data = channels[0].indices.flatMap { place in channels.map { $0[place] } }
        return chunk(
            "FRM8",
            Array("DSD ".utf8) + chunk("FVER", [1, 5, 0, 0]) + chunk("PROP", properties) + chunk("DSD ", data))
    }
}
