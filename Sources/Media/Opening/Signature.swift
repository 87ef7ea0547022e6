/// Names files that are not played by their first bytes.
enum Signature {
    /// The name of a format of audio that is not played, or nil.
    static func unplayed(_ head: [UInt8]) -> String? {
        // A text may begin with the same letters.
        if isText(head) { return nil }
        for known in unplayedTexts where head.has(known.text, at: known.offset) { return "\(known.name)" }
        for known in unplayedBytes where head.starts(with: known.bytes) { return "\(known.name)" }
        return dolby(head) ?? (isMPEGAudio(head) && head[1] & 0x06 == 0x06 ? layerI : nil)
    }

    /// The name of another known kind of file, or nil.
    static func name(of head: [UInt8]) -> String? {
        if let name = unplayed(head) { return name }
        for known in texts where head.has(known.text, at: known.offset) { return "\(known.name)" }
        for known in bytes where head.starts(with: known.bytes) { return "\(known.name)" }
        if isMPEGAudio(head) { return "MP3" }
        if isText(head) { return "text" }
        return isTransportStream(head) ? "MPEG-TS" : nil
    }

    /// Whether FLAC or MP3 may follow first bytes that look like this: not after content that is certain. The frames of
    /// FLAC begin like those of AAC, and any bytes may look like a frame of MP3.
    static func mayHideAudio(_ name: String?) -> Bool {
        guard let name else { return true }
        return name == "text" || name == "AAC" || name == "MP3" || name == layerI
    }

    private static let layerI = "MPEG audio of layer I"

    private static let unplayedTexts: [(name: StaticString, offset: Int, text: StaticString)] = [
        ("APE", 0, "MAC "), ("Musepack", 0, "MPCK"), ("Musepack", 0, "MP+"), ("TTA", 0, "TTA1"), ("TTA", 0, "TTA2"),
        ("TAK", 0, "tBaK"), ("OptimFROG", 0, "OFR "), ("Shorten", 0, "ajkg"), ("CAF", 0, "caff"), ("AU", 0, ".snd"),
        ("RealAudio", 0, ".RMF"), ("RealAudio", 0, ".ra"), ("AMR", 0, "#!AMR"), ("VOC", 0, "Creative Voice File"),
        ("IFF 8SVX", 8, "8SVX"), ("MIDI", 0, "MThd"), ("DTS-HD", 0, "DTSHDHDR"),
    ]

    private static let unplayedBytes: [(name: StaticString, bytes: [UInt8])] = [
        ("WMA/ASF", [0x30, 0x26, 0xB2, 0x75]),
        // Words of 16 and of 14 bits, in both orders (ETSI TS 102 114, 5.3).
        ("DTS", [0x7F, 0xFE, 0x80, 0x01]), ("DTS", [0xFE, 0x7F, 0x01, 0x80]),
        ("DTS", [0x1F, 0xFF, 0xE8, 0x00]), ("DTS", [0xFF, 0x1F, 0x00, 0xE8]),
    ]

    /// AC-3 and E-AC-3 (ETSI TS 102 366, 4.4 and E.1.2).
    private static func dolby(_ head: [UInt8]) -> String? {
        guard head.count >= 6, head[0] == 0x0B, head[1] == 0x77 else { return nil }
        switch head[5] >> 3 {
        case ...10: return head[4] < 0xC0 && head[4] & 0x3F < 38 ? "AC-3" : nil
        case 11...16: return "E-AC-3"
        default: return nil
        }
    }

    private static let texts: [(name: StaticString, offset: Int, text: StaticString)] = [
        ("HEIF or AVIF", 4, "ftyp"),
        ("AVI", 8, "AVI "),
        ("WebP", 8, "WEBP"),
        ("PNG", 1, "PNG\r\n"),
        ("GIF", 0, "GIF8"),
        ("PDF", 0, "%PDF"),
        ("ZIP", 0, "PK\u{3}\u{4}"),
        ("ELF", 0, "\u{7F}ELF"),
        ("SQLite", 0, "SQLite format 3"),
        ("HTML", 0, "<!DOCTYPE html"),
        ("HTML", 0, "<html"),
        ("XML", 0, "<?xml"),
        ("playlist", 0, "#EXTM3U"),
        ("playlist", 0, "[playlist]"),
    ]

    private static let bytes: [(name: StaticString, bytes: [UInt8])] = [
        ("JPEG", [0xFF, 0xD8, 0xFF]),
        ("MPEG-PS", [0, 0, 1, 0xBA]),
        ("MPEG video", [0, 0, 1, 0xB3]),
        ("FLV", [0x46, 0x4C, 0x56, 1]),
        ("gzip", [0x1F, 0x8B]),
        ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A]),
        ("AAC", [0xFF, 0xF1]),
        ("AAC", [0xFF, 0xF9]),
    ]

    /// A frame sync with a valid layer, bit rate and sample rate (ISO/IEC 11172-3, 2.4.1.3).
    private static func isMPEGAudio(_ head: [UInt8]) -> Bool {
        head.count >= 3 && head[0] == 0xFF && head[1] & 0xE0 == 0xE0 && head[1] & 0x06 != 0
            && head[1] & 0x18 != 0x08 && head[2] & 0xF0 != 0xF0 && head[2] & 0x0C != 0x0C
    }

    /// Packets of 188 bytes, each of which begins with the same one (ISO/IEC 13818-1, 2.4.3.2).
    static func isTransportStream(_ head: [UInt8]) -> Bool {
        head.count > 188 && stride(from: 0, to: head.count, by: 188).allSatisfy { head[$0] == 0x47 }
    }

    private static func isText(_ head: [UInt8]) -> Bool {
        !head.isEmpty && head.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }
    }
}
