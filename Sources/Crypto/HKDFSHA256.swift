import CMbedTLS

/// HKDF with SHA-256 (RFC 5869), which derives keys from a secret. Any thread.
public enum HKDFSHA256 {
    /// The longest possible key in bytes: 255 digests.
    public static let maximumCount = 255 * SHA256.digestCount

    /// Derives a key.
    /// - Parameters:
    ///   - secret: the input keying material: random bytes or the result of a key agreement, never a password.
    ///   - salt: any length; empty is the same as 32 zeros.
    ///   - info: the purpose of the key; keys for different purposes are independent.
    ///   - count: length of the key, 1 to 8160 bytes.
    /// - Throws: `wrongLength(.derivedKey)` or `failed`.
    public static func deriveKey(
        from secret: borrowing SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard (1...maximumCount).contains(count) else { throw .wrongLength(.derivedKey, bytes: count) }
        var code: Int32 = 0
        let (input, inputCount) = (secret.pointer, secret.count)
        let key = SecretBytes(count: count) { key in
            code = mbedtls_hkdf(
                MessageDigest.algorithm, salt, salt.count, input, inputCount, info, info.count, key.bytePointer,
                key.count)
        }
        try CryptoError.check(code)
        return key
    }
}
