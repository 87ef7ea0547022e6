import CJansson

/// A tree of jansson. It cannot be copied, and its `deinit` releases it.
private struct JanssonTree: ~Copyable {
    let root: UnsafeMutablePointer<json_t>

    /// - Parameter bytes: any value, not only an array or an object.
    init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var error = json_error_t()
        let flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL
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
    /// The value of all of `bytes` (UTF-8). Objects keep their order.
    /// - Parameter depthLimit: how deep arrays and objects may be nested; at most 2000.
    public static func parse(_ bytes: [UInt8], depthLimit: Int = 64) throws(JSONError) -> JSONValue {
        let outcome = bytes.withUnsafeBytes { all -> Result<JSONValue, JSONError> in
            do throws(JSONError) {
                let tree = try JanssonTree(parsing: all)
                return .success(try JSONValue(tree.root, depthLimit: depthLimit, depth: 0))
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    /// The value of all of `text`; see `parse(_:depthLimit:)` for bytes.
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
