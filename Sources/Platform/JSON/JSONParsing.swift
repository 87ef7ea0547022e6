import CJansson

/// A tree of jansson. It cannot be copied, and its `deinit` releases it.
private struct JanssonTree: ~Copyable {
    let root: UnsafeMutablePointer<json_t>

    /// - Parameters:
    ///   - bytes: any value, not only an array or an object.
    ///   - flags: for jansson.
    init(parsing bytes: UnsafeRawBufferPointer, _ flags: Int32) throws(JSONError) {
        var error = json_error_t()
        let text = bytes.bindMemory(to: CChar.self)
        guard let root = json_loadb(text.baseAddress, text.count, Int(flags), &error) else {
            let reason = withUnsafeBytes(of: &error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            throw .malformed(reason: reason, line: max(Int(error.line), 1), column: max(Int(error.column), 1))
        }
        self.root = root
    }

    deinit { json_decref(root) }
}

extension JSONValue {
    /// Returns the value of all of `bytes` (UTF-8). Objects keep their order.
    /// - Parameter depthLimit: how deep arrays and objects may be nested; at most 2000.
    public static func parse(_ bytes: [UInt8], depthLimit: Int = 64) throws(JSONError) -> JSONValue {
        let outcome = bytes.withUnsafeBytes { all -> Result<JSONValue, JSONError> in
            do throws(JSONError) {
                let tree = try JanssonTree(parsing: all, strict)
                return .success(try JSONValue(tree.root, depthLimit: depthLimit, depth: 0))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    private static let strict = Int32(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)
    private static let lenient = Int32(JSON_DECODE_ANY | JSON_ALLOW_NUL)

    /// Returns the value of a text from another program, of which only some members matter. The last of several members
    /// with one name is used. A number beyond the integers becomes a real one. A byte-order mark is skipped.
    public static func parseForeign(_ bytes: [UInt8], depthLimit: Int = 64) throws(JSONError) -> JSONValue {
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        let outcome = text.withUnsafeBytes { all -> Result<JSONValue, JSONError> in
            do throws(JSONError) {
                let tree = try JanssonTree(parsing: all, lenient)
                return .success(try JSONValue(tree.root, depthLimit: depthLimit, depth: 0))
            } catch {
                return .failure(error)
            }
        }
        // One number that is too large makes the whole text invalid.
        if case .failure(.malformed) = outcome, let rest = withoutLargeNumbers(text) {
            return try parseForeign(rest, depthLimit: depthLimit)
        }
        return try outcome.get()
    }

    /// Returns the text with `null` instead of numbers that are near or beyond the range of integers and of real
    /// numbers; nil when it has none.
    private static func withoutLargeNumbers(_ text: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var (place, hasChanged) = (0, false)
        while place < text.count {
            var end = place + 1
            switch text[place] {
            case UInt8(ascii: "\""):
                while end < text.count, text[end] != UInt8(ascii: "\"") {
                    end += text[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                end = min(end + 1, text.count)
            case UInt8(ascii: "-"), 0x30...0x39:
                end = text[place...].firstIndex { !isOfNumber($0) } ?? text.count
                if isLarge(text[place..<end]) {
                    result += Array("null".utf8)
                    (place, hasChanged) = (end, true)
                    continue
                }
            default: break
            }
            result += text[place..<end]
            place = end
        }
        return hasChanged ? result : nil
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
    }

    /// Integers from 10¹⁸ on have 19 digits. Real numbers from 10³⁰⁰ on have more digits than 18, or an exponent of
    /// three digits.
    private static func isLarge(_ number: ArraySlice<UInt8>) -> Bool {
        let parts = number.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let exponent = parts.count == 2 ? parts[1].filter { (0x30...0x39).contains($0) }.count : 0
        return exponent > 2 || parts[0].filter { (0x30...0x39).contains($0) }.count > 18
    }

    /// Returns the value of all of `text`; see `parse(_:depthLimit:)` for bytes.
    public static func parse(_ text: String, depthLimit: Int = 64) throws(JSONError) -> JSONValue {
        try parse(Array(text.utf8), depthLimit: depthLimit)
    }

    private init(_ json: UnsafeMutablePointer<json_t>, depthLimit: Int, depth: Int) throws(JSONError) {
        switch json.pointee.type {
        case JSON_TRUE: self = .boolean(true)
        case JSON_FALSE: self = .boolean(false)
        case JSON_INTEGER: self = .integer(json_integer_value(json))
        case JSON_REAL: self = .real(json_real_value(json))
        case JSON_STRING:
            self = .string(Self.text(json_string_value(json), json_string_length(json)))
        case JSON_ARRAY:
            guard depth < depthLimit else { throw .tooDeep(limit: depthLimit) }
            var elements: [JSONValue] = []
            elements.reserveCapacity(json_array_size(json))
            for index in 0..<json_array_size(json) {
                elements.append(try JSONValue(json_array_get(json, index), depthLimit: depthLimit, depth: depth + 1))
            }
            self = .array(elements)
        case JSON_OBJECT:
            guard depth < depthLimit else { throw .tooDeep(limit: depthLimit) }
            var members: [Member] = []
            members.reserveCapacity(json_object_size(json))
            var place = json_object_iter(json)
            while let current = place {
                let value = try JSONValue(
                    json_object_iter_value(current), depthLimit: depthLimit, depth: depth + 1)
                // Names have no NUL: jansson rejects them.
                members.append(Member(String(cString: json_object_iter_key(current)), value))
                place = json_object_iter_next(json, current)
            }
            self = .object(members)
        default: self = .null
        }
    }

    private static func text(_ start: UnsafePointer<CChar>, _ length: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
    }
}
