import CMbedTLS

/// Returns the length of an AES key in bits.
/// - Throws: `wrongLength(.key)` unless it has 16 or 32 bytes.
func aesKeyBits(_ key: borrowing SecretBytes) throws(CryptoError) -> UInt32 {
    guard key.count == 16 || key.count == 32 else { throw .wrongLength(.key, bytes: key.count) }
    return UInt32(key.count * 8)
}

/// An expanded AES key for one direction of the block cipher. Any thread, one at a time.
struct AESContext: ~Copyable {
    /// The direction that the key is expanded for. CTR encrypts in both directions.
    enum Direction { case encrypt, decrypt }

    static let blockCount = 16

    // On the heap, because the context of mbedTLS 2.28 contains a pointer into itself.
    let pointer: UnsafeMutablePointer<mbedtls_aes_context>

    /// - Throws: `wrongLength(.key)` or `failed`.
    init(key: borrowing SecretBytes, _ direction: Direction) throws(CryptoError) {
        let bits = try aesKeyBits(key)
        let pointer = UnsafeMutablePointer<mbedtls_aes_context>.allocate(capacity: 1)
        mbedtls_aes_init(pointer)
        let code =
            switch direction {
            case .encrypt: mbedtls_aes_setkey_enc(pointer, key.pointer, bits)
            case .decrypt: mbedtls_aes_setkey_dec(pointer, key.pointer, bits)
            }
        guard code == 0 else {
            mbedtls_aes_free(pointer)
            pointer.deallocate()
            throw .failed(code: code)
        }
        self.pointer = pointer
    }

    deinit {
        mbedtls_aes_free(pointer)  // Overwrites the expanded key.
        pointer.deallocate()
    }
}
