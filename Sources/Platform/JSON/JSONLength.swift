extension JSONValue {
    /// An upper bound of the bytes of `serialized()`. Counting is much cheaper than serializing.
    public var serializedLengthLimit: Int {
        switch self {
        case .null, .boolean: return 5
        // -9223372036854775808; 17 digits, a sign, a point and an exponent.
        case .integer, .real: return 24
        case .string(let text): return Self.lengthLimit(of: text)
        case .array(let elements):
            var length = 2
            for element in elements { length += element.serializedLengthLimit + 1 }
            return length
        case .object(let members):
            var length = 2
            for member in members {
                length += Self.lengthLimit(of: member.name) + member.value.serializedLengthLimit + 2
            }
            return length
        }
    }

    /// Returns the value with each text longer than `limit` bytes cut to that length.
    public func cuttingTexts(to limit: Int) -> JSONValue {
        switch self {
        case .null, .boolean, .integer, .real: return self
        case .string(let text): return .string(CutText.cut(text, to: limit))
        case .array(let elements): return .array(elements.map { $0.cuttingTexts(to: limit) })
        case .object(let members):
            return .object(members.map { Member($0.name, $0.value.cuttingTexts(to: limit)) })
        }
    }

    private static func lengthLimit(of text: String) -> Int {
        var length = 2
        for byte in text.utf8 {
            switch byte {
            // `\u00XX`: C0 controls, DEL, and the first of the two bytes of C1 controls.
            case 0..<0x20, 0x7F, 0xC2: length += 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): length += 2
            default: length += 1
            }
        }
        return length
    }
}
