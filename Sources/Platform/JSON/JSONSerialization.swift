import CJansson
import CLinux

extension JSONValue {
    /// Returns the value as JSON on one line, without blanks, with members in order. A number that is not finite
    /// becomes `null`, because JSON cannot express it.
    public func serialized() -> String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes brackets and commas here, so that the order stays and no second tree is built; jansson writes the leaves.
    private func append(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .boolean(let value): text += (value ? "true" : "false").utf8
        case .integer(let value): text += "\(value)".utf8
        case .real(let value): Self.append(value, to: &text)
        case .string(let value): Self.append(value, to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.append(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.append(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ value: String, to text: inout [UInt8]) {
        let start = text.count
        append(json_stringn(value, value.utf8.count), precision: 0, to: &text)
        escapeControls(from: start, in: &text)
    }

    /// jansson escapes only C0 controls. DEL and the C1 controls (0xC2 0x80 to 0xC2 0x9F) control terminals too.
    private static func escapeControls(from start: Int, in text: inout [UInt8]) {
        func isControl(_ index: Int) -> Bool {
            if text[index] == 0x7F { return true }
            return text[index] == 0xC2 && index + 1 < text.count && text[index + 1] < 0xA0
        }
        guard (start..<text.count).contains(where: { isControl($0) }) else { return }
        var escaped: [UInt8] = []
        var index = start
        while index < text.count {
            if isControl(index) {
                let isDelete = text[index] == 0x7F
                escaped += "\\u00\(hexadecimal(CollectionOfOne(isDelete ? 0x7F : text[index + 1])))".utf8
                index += isDelete ? 1 : 2
            } else {
                escaped.append(text[index])
                index += 1
            }
        }
        text.replaceSubrange(start..., with: escaped)
    }

    /// Writes the shortest of 15, 16 or 17 digits that gives the same number back: 0.1 instead of 0.10000000000000001.
    private static func append(_ value: Double, to text: inout [UInt8]) {
        guard value.isFinite else {
            text += "null".utf8
            return
        }
        for precision in 15...17 {
            var digits: [UInt8] = []
            append(json_real(value), precision: precision, to: &digits)
            if precision == 17 || Double(decimal: String(decoding: digits, as: UTF8.self)) == value {
                text += digits
                return
            }
        }
    }

    /// Writes a leaf and takes ownership of it.
    private static func append(_ leaf: UnsafeMutablePointer<json_t>?, precision: Int, to text: inout [UInt8]) {
        defer { json_decref(leaf) }
        // JSON_REAL_PRECISION is a macro with an argument, which Swift cannot import.
        guard let dumped = json_dumps(leaf, Int(JSON_ENCODE_ANY) | precision << 11) else { return }
        defer { free(dumped) }
        text += UnsafeRawBufferPointer(start: dumped, count: strlen(dumped))
    }
}
