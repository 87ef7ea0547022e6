/// Containers written by hand, for contents that no encoder produces.
enum Chunks {
    static func little(_ value: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func big(_ value: Int, _ byteCount: Int) -> [UInt8] {
        little(value, byteCount).reversed()
    }

    /// A chunk of a RIFF file; `size` is the size in its header.
    static func riff(_ name: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + little(size ?? content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }

    /// A chunk of an AIFF file; `size` is the size in its header.
    static func iff(_ name: String, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        Array(name.utf8) + big(size ?? content.count, 4) + content + (content.count % 2 == 1 ? [0] : [])
    }

    static func wav(_ chunks: [UInt8], size: Int? = nil, name: String = "RIFF") -> [UInt8] {
        Array(name.utf8) + little(size ?? chunks.count + 4, 4) + Array("WAVE".utf8) + chunks
    }

    static func aiff(_ chunks: [UInt8], type: String = "AIFF") -> [UInt8] {
        Array("FORM".utf8) + big(chunks.count + 4, 4) + Array(type.utf8) + chunks
    }

    /// The classic format chunk with `bits` in containers of `byteCount` bytes.
    static func format(of signal: Signal, bits: Int, byteCount: Int, codec: Int = 1) -> [UInt8] {
        let channels = signal.format.channelCount
        let rate = signal.format.sampleRate
        return riff(
            "fmt ",
            little(codec, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * byteCount, 4)
                + little(channels * byteCount, 2) + little(bits, 2))
    }

    /// WAVE_FORMAT_EXTENSIBLE.
    static func extensibleFormat(of signal: Signal, byteCount: Int, validBits: Int, codec: Int = 1) -> [UInt8] {
        let channels = signal.format.channelCount
        let rate = signal.format.sampleRate
        let tail: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
        let channelMask = (1 << channels) - 1
        return riff(
            "fmt ",
            little(0xFFFE, 2) + little(channels, 2) + little(rate, 4) + little(rate * channels * byteCount, 4)
                + little(channels * byteCount, 2) + little(byteCount * 8, 2) + little(22, 2) + little(validBits, 2)
                + little(channelMask, 4) + little(codec, 2) + tail)
    }
}

extension Signal {
    /// A WAV file whose header declares how many bits of each sample are used.
    var extensibleWAV: [UInt8] {
        let byteCount = (format.bitDepth + 7) / 8
        return Chunks.wav(
            Chunks.extensibleFormat(of: self, byteCount: byteCount, validBits: format.bitDepth)
                + Chunks.riff("data", raw(byteCount: byteCount, unsigned: byteCount == 1)))
    }
}
