/// Names and values as HTML forms and OAuth requests write them: `application/x-www-form-urlencoded` (WHATWG URL, 5).
///
/// Any thread.
public enum FormText {
    /// Returns the fields in their order. A field without `=` has an empty value.
    /// - Returns: nil when an escape or the UTF-8 is not valid.
    public static func fields(of text: [UInt8]) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for part in text.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = string(part[..<equals]), let value = string(part[equals...].dropFirst()) else {
                return nil
            }
            fields.append((name, value))
        }
        return fields
    }

    private static func string(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let plain = unescaped(bytes, plusIsBlank: true) else { return nil }
        return String(validating: plain, as: UTF8.self)
    }

    /// Returns the text of a request's body.
    public static func text(of fields: [(name: String, value: String)]) -> String {
        var text = ""
        for (name, value) in fields {
            if !text.isEmpty { text += "&" }
            text += escaped(name) + "=" + escaped(value)
        }
        return text
    }

    /// Returns the text with all but unreserved characters as %XX (RFC 3986, 2). It is valid in a path, a query and a
    /// form.
    public static func escaped(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes with each `%XX` replaced by its byte.
    /// - Parameter plusIsBlank: whether `+` is a blank, as in forms; in paths it is a plus.
    /// - Returns: nil when a `%` is not followed by two hexadecimal digits.
    public static func unescaped(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                plain.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: plain.append(UInt8(ascii: " "))
            default: plain.append(byte)
            }
        }
        return plain
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
