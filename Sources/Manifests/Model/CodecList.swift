import Media
import Platform

/// Lists of codecs as manifests write them (RFC 6381).
enum CodecList {
    static func codecs(_ text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: ",")).compactMap {
            TagText.utf8(Array($0.drop(while: TagText.isBlank)))
        }
    }

    /// Whether the codec is one of sound, supported or not.
    static func isSound(_ codec: String) -> Bool {
        let name = codec.lowercasedASCII.utf8
        return sounds.contains { sound in sound.withUTF8Buffer { name.starts(with: $0) } }
    }

    private static let sounds: [StaticString] = [
        "mp4a", "flac", "aac", "alac", "opus", "ac-3", "ac-4", "ac4", "ec-3", "eac3", "mha1", "mhm1", "mp3", "dts",
        "vorbis", "mqa",
    ]
}

/// The name of a format with its rate and depth: `FLAC_HIRES,96000,24`. The rest may be missing.
struct FormatName {
    let name: String
    let sampleRate: Int?
    let bitDepth: Int?

    init(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        func number(_ index: Int, _ range: ClosedRange<Int>) -> Int? {
            guard parts.count == 3, let value = XMLValue.integer(String(decoding: Array(parts[index]), as: UTF8.self)),
                let number = Int(exactly: value), range ~= number
            else { return nil }
            return number
        }
        name = String(decoding: Array(parts.first ?? Substring("").utf8), as: UTF8.self)
        sampleRate = number(1, AudioLimits.sampleRates)
        bitDepth = number(2, AudioLimits.bitDepths)
    }
}
