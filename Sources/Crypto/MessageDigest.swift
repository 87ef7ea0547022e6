import CMbedTLS

/// mbedTLS's context for SHA-256, with or without a key. Any thread, one at a time.
struct MessageDigest: ~Copyable {
    // On the heap, because mbedTLS does not allow a context to move.
    let context: UnsafeMutablePointer<mbedtls_md_context_t>

    /// SHA-256 as mbedTLS describes it; nil only if the library is built without it.
    static var algorithm: OpaquePointer? { mbedtls_md_info_from_type(MBEDTLS_MD_SHA256) }

    /// - Throws: `failed` without memory.
    init(keyed: Bool) throws(CryptoError) {
        let context = UnsafeMutablePointer<mbedtls_md_context_t>.allocate(capacity: 1)
        mbedtls_md_init(context)
        let code = mbedtls_md_setup(context, Self.algorithm, keyed ? 1 : 0)
        guard code == 0 else {
            mbedtls_md_free(context)
            context.deallocate()
            throw .failed(code: code)
        }
        self.context = context
    }

    deinit {
        mbedtls_md_free(context)  // Overwrites what depends on the key.
        context.deallocate()
    }
}
