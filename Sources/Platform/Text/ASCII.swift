extension UInt8 {
    /// The ASCII letter in lower case; other bytes unchanged.
    public var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// The ASCII letter as a capital; other bytes unchanged.
    package var uppercased: UInt8 { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & ~0x20 : self }

    /// The value of an ASCII digit; nil for other bytes.
    package var digit: Int? { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self) - 48 : nil }
}

extension String {
    /// The text with ASCII letters in lower case.
    package var lowercasedASCII: String { String(decoding: utf8.map { $0.lowercased }, as: UTF8.self) }
}
