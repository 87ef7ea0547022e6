/// Text in UTF-8, or else in Windows-1252, which contains Latin-1. Old players on Windows wrote it.
enum WesternText {
    /// The characters of the bytes 0x80 to 0x9F; 0 where there is none.
    private static let special: [UInt16] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    static func text(of bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        var text = String.UnicodeScalarView()
        for byte in bytes {
            let known = (0x80...0x9F).contains(byte) ? UInt32(special[Int(byte) - 0x80]) : 0
            if let scalar = Unicode.Scalar(known == 0 ? UInt32(byte) : known) { text.append(scalar) }
        }
        return String(text)
    }

    static func isUTF8(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }
}
