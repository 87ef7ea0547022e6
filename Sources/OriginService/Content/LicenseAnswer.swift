import Foundation
import HTTPServer
import Platform

/// The license server: the W3C's exchange of ClearKey ("Encrypted Media Extensions", 9.1).
enum LicenseAnswer {
    /// - Returns: the answer to a request with IDs of keys; nil for another request.
    static func answer(to body: [UInt8], _ encryption: ContentEncryption) -> HTTPAnswer? {
        guard let request = try? JSONValue.parse(body), let ids = request["kids"]?.elements, !ids.isEmpty else {
            return nil
        }
        let id = base64URL(encryption.keyID)
        // This content has no other keys.
        let isKnown = ids.contains { $0.string == id }
        let key: JSONValue = ["kty": "oct", "kid": .string(id), "k": .string(base64URL(encryption.key))]
        return .json(["keys": .array(isKnown ? [key] : []), "type": "temporary"])
    }

    /// Encodes by RFC 4648, 5, without padding.
    private static func base64URL(_ bytes: [UInt8]) -> String {
        base64(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
