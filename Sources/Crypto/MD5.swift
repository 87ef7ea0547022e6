/// MD5 (RFC 1321) of bytes that arrive in several calls. Not for security: a FLAC file has the MD5 of its samples,
/// which reveals decoding errors.
///
/// Any thread, one at a time.
public struct MD5: ~Copyable {
    private let digest: MessageDigest

    /// - Throws: `failed` without memory.
    public init() throws(CryptoError) {
        digest = try .md5()
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Adds bytes to hash.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) {
        try digest.update(bytes.bytePointer, count: bytes.count)
    }

    /// Returns the digest of all bytes so far: 16 bytes.
    /// - Throws: `failed`.
    public consuming func finish() throws(CryptoError) -> [UInt8] { try digest.finish() }
}
