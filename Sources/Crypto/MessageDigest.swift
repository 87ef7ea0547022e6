import CMbedTLS

/// mbedTLS's context for SHA-256, with or without a key, and for MD5. Any thread, one at a time.
struct MessageDigest: ~Copyable {
    // On the heap, because mbedTLS does not allow a context to move.
    private let context: UnsafeMutablePointer<mbedtls_md_context_t>
    private let isKeyed: Bool
    private let resultCount: Int

    /// The length of a digest or a code of SHA-256, in bytes.
    static let byteCount = 32

    /// SHA-256 as mbedTLS describes it; nil only if the library is built without it.
    static var algorithm: OpaquePointer? { mbedtls_md_info_from_type(MBEDTLS_MD_SHA256) }

    /// Returns a context for SHA-256.
    /// - Throws: `failed` without memory.
    static func hash() throws(CryptoError) -> MessageDigest { try unkeyed(algorithm) }

    /// Returns a context for MD5.
    /// - Throws: `failed` without memory.
    static func md5() throws(CryptoError) -> MessageDigest { try unkeyed(mbedtls_md_info_from_type(MBEDTLS_MD_MD5)) }

    private static func unkeyed(_ algorithm: OpaquePointer?) throws(CryptoError) -> MessageDigest {
        let digest = try MessageDigest(algorithm, isKeyed: false)
        try CryptoError.check(mbedtls_md_starts(digest.context))
        return digest
    }

    /// Returns a context for HMAC with SHA-256.
    /// - Throws: `failed` without memory.
    static func code(key: borrowing SecretBytes) throws(CryptoError) -> MessageDigest {
        let digest = try MessageDigest(algorithm, isKeyed: true)
        try CryptoError.check(mbedtls_md_hmac_starts(digest.context, key.pointer, key.count))
        return digest
    }

    private init(_ algorithm: OpaquePointer?, isKeyed: Bool) throws(CryptoError) {
        let context = UnsafeMutablePointer<mbedtls_md_context_t>.allocate(capacity: 1)
        mbedtls_md_init(context)
        let code = mbedtls_md_setup(context, algorithm, isKeyed ? 1 : 0)
        guard code == 0 else {
            mbedtls_md_free(context)
            context.deallocate()
            throw .failed(code: code)
        }
        self.context = context
        self.isKeyed = isKeyed
        resultCount = Int(mbedtls_md_get_size(algorithm))
    }

    deinit {
        mbedtls_md_free(context)  // Overwrites what depends on the key.
        context.deallocate()
    }

    /// Adds `count` bytes.
    /// - Throws: `failed`.
    func update(_ bytes: UnsafePointer<UInt8>?, count: Int) throws(CryptoError) {
        try CryptoError.check(
            isKeyed ? mbedtls_md_hmac_update(context, bytes, count) : mbedtls_md_update(context, bytes, count))
    }

    /// Returns the result for all bytes so far.
    /// - Throws: `failed`.
    func finish() throws(CryptoError) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: resultCount)
        try CryptoError.check(
            isKeyed ? mbedtls_md_hmac_finish(context, &result) : mbedtls_md_finish(context, &result))
        return result
    }
}
