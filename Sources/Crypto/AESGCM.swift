import CMbedTLS

/// AES-GCM (NIST SP 800-38D) with a key of 128 or 256 bits, nonces of 96 bits and tags of 128 bits.
///
/// A nonce must never be used twice with one key: two messages under one nonce reveal both, and the key of the tags.
///
/// Any thread, one at a time; does not allocate after `init`, except for the array functions.
public struct AESGCM: ~Copyable {
    /// The length of a nonce in bytes.
    public static let nonceCount = 12
    /// The length of a tag in bytes.
    public static let tagCount = 16

    // On the heap, because mbedTLS does not allow a context to move.
    private let context: UnsafeMutablePointer<mbedtls_gcm_context>

    /// - Parameter key: 16 or 32 bytes; it is expanded here and not stored.
    /// - Throws: `wrongLength(.key)` or `failed`.
    public init(key: borrowing SecretBytes) throws(CryptoError) {
        let bits = try aesKeyBits(key)
        let context = UnsafeMutablePointer<mbedtls_gcm_context>.allocate(capacity: 1)
        mbedtls_gcm_init(context)
        let code = mbedtls_gcm_setkey(context, MBEDTLS_CIPHER_ID_AES, key.pointer, bits)
        guard code == 0 else {
            mbedtls_gcm_free(context)
            context.deallocate()
            throw .failed(code: code)
        }
        self.context = context
    }

    deinit {
        mbedtls_gcm_free(context)  // Overwrites the expanded key.
        context.deallocate()
    }

    /// Encrypts `message` in place and writes its tag.
    /// - Parameters:
    ///   - nonce: 12 bytes, never used before with this key.
    ///   - additionalData: authenticated but not encrypted; may be empty.
    ///   - tag: receives 16 bytes.
    /// - Throws: `wrongLength` or `failed`.
    public mutating func seal(
        inPlace message: UnsafeMutableRawBufferPointer, nonce: UnsafeRawBufferPointer,
        authenticating additionalData: UnsafeRawBufferPointer, tag: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        try Self.check(nonce, tag.count)
        let bytes = message.bytePointer
        try CryptoError.check(
            mbedtls_gcm_crypt_and_tag(
                context, MBEDTLS_GCM_ENCRYPT, message.count, nonce.bytePointer, nonce.count,
                additionalData.bytePointer, additionalData.count, bytes, bytes, tag.count, tag.bytePointer))
    }

    /// Checks the tag of `message` and decrypts it in place.
    /// - Throws: `notAuthentic` after overwriting `message` with zeros; `wrongLength` or `failed`.
    public mutating func open(
        inPlace message: UnsafeMutableRawBufferPointer, nonce: UnsafeRawBufferPointer,
        authenticating additionalData: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer
    ) throws(CryptoError) {
        try Self.check(nonce, tag.count)
        let bytes = message.bytePointer
        let code = mbedtls_gcm_auth_decrypt(
            context, message.count, nonce.bytePointer, nonce.count, additionalData.bytePointer, additionalData.count,
            tag.bytePointer, tag.count, bytes, bytes)
        if code == MBEDTLS_ERR_GCM_AUTH_FAILED { throw .notAuthentic }
        try CryptoError.check(code)
    }

    private static func check(_ nonce: UnsafeRawBufferPointer, _ tagCount: Int) throws(CryptoError) {
        guard nonce.count == nonceCount else { throw .wrongLength(.nonce, bytes: nonce.count) }
        guard tagCount == self.tagCount else { throw .wrongLength(.tag, bytes: tagCount) }
    }
}

extension AESGCM {
    /// Returns the encrypted message followed by its tag. Allocates.
    /// - Throws: `wrongLength` or `failed`.
    public mutating func seal(
        _ message: [UInt8], nonce: [UInt8], authenticating additionalData: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        var sealed = message + [UInt8](repeating: 0, count: Self.tagCount)
        try sealed.withMutableRawBytes { (all) throws(CryptoError) in
            let (body, tag) = all.split(at: message.count)
            try nonce.withRawBytes { (nonce) throws(CryptoError) in
                try additionalData.withRawBytes { (data) throws(CryptoError) in
                    try seal(inPlace: body, nonce: nonce, authenticating: data, tag: tag)
                }
            }
        }
        return sealed
    }

    /// Returns the message that `seal` encrypted. Allocates.
    /// - Throws: `notAuthentic`, `wrongLength` or `failed`.
    public mutating func open(
        _ sealed: [UInt8], nonce: [UInt8], authenticating additionalData: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        let count = sealed.count - Self.tagCount
        guard count >= 0 else { throw .wrongLength(.message, bytes: sealed.count) }
        var message = sealed
        try message.withMutableRawBytes { (all) throws(CryptoError) in
            let (body, tag) = all.split(at: count)
            try nonce.withRawBytes { (nonce) throws(CryptoError) in
                try additionalData.withRawBytes { (data) throws(CryptoError) in
                    try open(inPlace: body, nonce: nonce, authenticating: data, tag: UnsafeRawBufferPointer(tag))
                }
            }
        }
        message.removeLast(Self.tagCount)
        return message
    }
}
