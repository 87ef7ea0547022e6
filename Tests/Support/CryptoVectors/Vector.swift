import Crypto

/// One published example, and whether the module gives the same result.
public struct Vector: Sendable {
    /// The document and the number in it.
    public let name: String
    /// Whether the module agrees with the document.
    public let holds: @Sendable () throws(CryptoError) -> Bool

    init(_ name: String, _ holds: @escaping @Sendable () throws(CryptoError) -> Bool) {
        self.name = name
        self.holds = holds
    }

    /// Every example.
    public static var all: [Vector] {
        gcm + gcmForgeries + counterMode + blockChaining + hashes + messageCodes + derivedKeys + signatures + forgeries
    }
}

/// The bytes of a text of hexadecimal digits; spaces separate.
func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 where character != UInt8(ascii: " ") {
        let digit: UInt8
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
        default: preconditionFailure("not a hexadecimal digit")
        }
        if let first = high {
            bytes.append(first << 4 | digit)
            high = nil
        } else {
            high = digit
        }
    }
    precondition(high == nil, "an odd number of digits")
    return bytes
}

/// A secret of hexadecimal digits.
func secret(_ text: String) -> SecretBytes { SecretBytes(copying: hex(text)) }

/// The bytes of a secret, to compare.
func bytes(of secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// The error that `body` throws, nil when it returns.
func failure(of body: () throws(CryptoError) -> Void) -> CryptoError? {
    do throws(CryptoError) {
        try body()
        return nil
    } catch {
        return error
    }
}
