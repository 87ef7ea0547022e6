import Platform

/// The exchange of ClearKey: a request with the IDs of keys, an answer with the keys, both JSON (W3C, "Encrypted Media
/// Extensions", 9.1).
public enum ClearKey {
    /// The largest answer that is accepted, in bytes.
    public static let mostBytes = 262_144

    private static let mostKeys = 1024
    /// The size of IDs and keys, in bytes.
    private static let size = 16

    /// The body of a request, for `POST` as `application/json`.
    /// - Parameter keyIDs: 16 bytes each.
    public static func request(for keyIDs: [[UInt8]]) -> [UInt8] {
        let ids = keyIDs.map { JSONValue.string(base64URL($0)) }
        let value: JSONValue = ["kids": .array(ids), "type": "temporary"]
        return Array(value.serialized().utf8)
    }

    /// The keys of an answer, in its order.
    /// - Throws: `.license` when it is not one.
    public static func keys(in answer: [UInt8]) throws(MediaError) -> [ContentKeys.Key] {
        guard answer.count <= mostBytes else { throw .license(reason: "an answer of \(answer.count) bytes") }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue.parseForeign(answer) } catch {
            throw .license(reason: "an answer that is not JSON: \(error.description)")
        }
        guard let entries = value["keys"]?.elements else { throw .license(reason: "an answer without keys") }
        guard entries.count <= mostKeys else { throw .license(reason: "an answer with \(entries.count) keys") }
        var keys: [ContentKeys.Key] = []
        for entry in entries {
            // Keys of other types do not encrypt content.
            guard let type = entry["kty"]?.string, type.utf8.elementsEqual("oct".utf8) else { continue }
            guard let id = bytes(entry["kid"]), let key = bytes(entry["k"]) else {
                throw .license(reason: "an answer with a key or an ID that is not 16 bytes in base64")
            }
            keys.append(.init(id: id, value: key))
        }
        return keys
    }

    private static func bytes(_ value: JSONValue?) -> [UInt8]? {
        value?.string.flatMap { Base64.bytes($0.utf8) }.flatMap { $0.count == size ? $0 : nil }
    }

    /// The alphabet for URLs, without padding (RFC 4648, 5).
    private static func base64URL(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                text.append(digit(bits >> UInt32(count) & 63))
            }
        }
        if count > 0 { text.append(digit(bits << UInt32(6 - count) & 63)) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func digit(_ value: UInt32) -> UInt8 {
        let value = UInt8(value)
        return switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }
}

/// Keys from a ClearKey license server.
///
/// Thread: only the decoder thread.
public final class ClearKeyLicenses: LicenseProvider {
    /// Sends a request, and waits for the answer.
    public typealias Exchange = (_ request: [UInt8]) throws(MediaError) -> [UInt8]

    private let exchange: Exchange
    private var keys: [ContentKeys.Key] = []

    /// The most keys. Only a server that invents them sends more.
    private static let mostKeys = 4096

    public init(exchange: @escaping Exchange) { self.exchange = exchange }

    public func key(_ request: KeyRequest) throws(MediaError) -> [UInt8] {
        if let known = keys.first(where: { $0.id == request.keyID }) { return known.value }
        let answer = try exchange(ClearKey.request(for: [request.keyID]))
        let found = try ClearKey.keys(in: answer)
        if keys.count + found.count > Self.mostKeys { keys = [] }
        keys += found
        guard let key = found.first(where: { $0.id == request.keyID }) else { throw .missingKey(id: request.keyID) }
        return key.value
    }
}
