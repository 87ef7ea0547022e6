import Foundation

@testable import Media

/// DSD made for a test: for each channel bytes with the oldest bit at the top.
struct DSDSignal {
    let rate: Int
    let channels: [[UInt8]]

    init(rate: Int, channels: [[UInt8]]) {
        self.rate = rate
        self.channels = channels
    }

    /// Tones by a sigma-delta modulator of the second order, one for each channel.
    /// - Parameters:
    ///   - byteCount: of each channel.
    ///   - tones: frequency, and amplitude as a part of full scale.
    init(rate: Int = 2_822_400, byteCount: Int, tones: [(frequency: Double, amplitude: Double)]) {
        self.rate = rate
        channels = tones.map { tone in
            var bytes: [UInt8] = []
            bytes.reserveCapacity(byteCount)
            var (first, second, last) = (0.0, 0.0, 0.0)
            let angle = 2 * Double.pi * tone.frequency / Double(rate)
            for place in 0..<byteCount {
                var byte: UInt8 = 0
                for bit in 0..<8 {
                    let value = tone.amplitude * sin(angle * Double(8 * place + bit))
                    // The bit is the delayed input, and noise that is differenced twice.
                    let output = second >= 0 ? 1.0 : -1.0
                    last = output
                    first += value - last
                    second += first - last
                    byte = byte << 1 | (output > 0 ? 1 : 0)
                }
                bytes.append(byte)
            }
            return bytes
        }
    }

    /// Bytes that look random.
    init(rate: Int = 2_822_400, randomBytes count: Int, channels: Int, seed: UInt64 = 1) {
        var generator = SeededGenerator(seed: seed)
        self.rate = rate
        self.channels = (0..<channels).map { _ in (0..<count).map { _ in .random(in: 0...255, using: &generator) } }
    }

    var byteCount: Int { channels[0].count }

    func slice(_ range: Range<Int>) -> DSDSignal { DSDSignal(rate: rate, channels: channels.map { Array($0[range]) }) }

    private func reversed(_ byte: UInt8) -> UInt8 {
        (0..<8).reduce(0) { $0 | (byte >> UInt8($1) & 1) << UInt8(7 - $1) }
    }

    /// - Parameters:
    ///   - isLowestFirst: the oldest bit of a byte is its lowest one.
    ///   - tag: at the end.
    func dsf(isLowestFirst: Bool = true, tag: [UInt8] = [], blockSize: Int = 4096) -> [UInt8] {
        var data: [UInt8] = []
        for start in stride(from: 0, to: byteCount, by: 4096) {
            for channel in channels {
                let block = channel[start..<min(start + 4096, byteCount)]
                data += isLowestFirst ? block.map(reversed) : Array(block)
                data += [UInt8](repeating: 0, count: 4096 - block.count)
            }
        }
        let size = 92 + data.count
        let types = [0, 1, 2, 3, 4, 6, 7]
        let head =
            Array("DSD ".utf8) + Chunks.little(28, 8) + Chunks.little(size + tag.count, 8)
            + Chunks.little(tag.isEmpty ? 0 : size, 8)
        let format =
            Array("fmt ".utf8) + Chunks.little(52, 8) + Chunks.little(1, 4) + Chunks.little(0, 4)
            + Chunks.little(channels.count < 7 ? types[channels.count] : 7, 4) + Chunks.little(channels.count, 4)
            + Chunks.little(rate, 4) + Chunks.little(isLowestFirst ? 1 : 8, 4) + Chunks.little(byteCount * 8, 8)
            + Chunks.little(blockSize, 4) + Chunks.little(0, 4)
        return head + format + Array("data".utf8) + Chunks.little(12 + data.count, 8) + data + tag
    }

    static func chunk(_ name: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + Chunks.big(size ?? content.count, 8) + content + (content.count % 2 == 1 ? [0] : [])
    }

    /// - Parameter compression: the codec that the file names.
    func dff(compression: String = "DSD ", dataName: String = "DSD ", tag: [UInt8] = []) -> [UInt8] {
        let names = [
            ["C   "], ["SLFT", "SRGT"], ["MLFT", "MRGT", "C   "], ["MLFT", "MRGT", "LS  ", "RS  "],
            ["MLFT", "MRGT", "C   ", "LS  ", "RS  "], ["MLFT", "MRGT", "C   ", "LFE ", "LS  ", "RS  "],
        ]
        let properties =
            Array("SND ".utf8) + Self.chunk("FS  ", Chunks.big(rate, 4))
            + Self.chunk(
                "CHNL", Chunks.big(channels.count, 2) + names[channels.count - 1].flatMap { Array($0.utf8) })
            + Self.chunk("CMPR", Array(compression.utf8) + [3] + Array("abc".utf8))
        var data: [UInt8] = []
        for place in 0..<byteCount { for channel in channels { data.append(channel[place]) } }
        let content =
            Array("DSD ".utf8) + Self.chunk("FVER", [1, 5, 0, 0]) + Self.chunk("PROP", properties)
            + Self.chunk(dataName, data) + (tag.isEmpty ? [] : Self.chunk("ID3 ", tag))
        return Self.chunk("FRM8", content)
    }
}
