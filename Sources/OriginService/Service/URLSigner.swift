import Crypto
import Foundation
import Platform

/// Signs addresses for a limited time: `token=EXPIRY~CODE`. The code is the HMAC-SHA256 of the folder of the address
/// and the expiry (docs/service.md).
///
/// Thread: any.
/// `@unchecked Sendable` is safe because the key never changes.
final class URLSigner: @unchecked Sendable {
    private let key: SecretBytes

    /// - Parameter key: 32 bytes.
    init(key: [UInt8]) { self.key = SecretBytes(copying: key) }

    /// Returns the query for addresses in `folder`.
    /// - Parameter expiry: seconds since 1970.
    func signature(of folder: String, until expiry: Int64) -> String { "token=\(expiry)~\(code(folder, expiry))" }

    /// Returns whether `token` is for an address in `folder`, and still valid.
    func isValid(_ token: String, of folder: String, at now: Int64) -> Bool {
        let parts = token.split(separator: "~", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let expiry = Int64(parts[0]), String(expiry) == parts[0], now <= expiry else {
            return false
        }
        return equalInConstantTime(Array(parts[1].utf8), Array(code(folder, expiry).utf8))
    }

    private func code(_ folder: String, _ expiry: Int64) -> String {
        // Only missing memory makes this fail.
        guard let code = try? HMACSHA256.code(of: Array("\(folder)\n\(expiry)".utf8), key: key) else {
            preconditionFailure("HMAC without memory")
        }
        return base64(code).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Encodes by RFC 4648, 4.
func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
