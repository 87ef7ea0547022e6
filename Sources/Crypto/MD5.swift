/// MD5 (RFC 1321) of bytes that come in pieces. Not for security: FLAC has one of its samples, which shows mistakes.
///
/// Any thread, one at a time.
public struct MD5: ~Copyable {
    private let digest: MessageDigest

    /// - Throws: `failed` without memory.
    public init() throws(CryptoError) {
        digest = try .md5()
    }

    // Without a deinit, Embedded Swift destroys a value in the module that uses it, which does not see the parts.
    deinit {}

    /// Adds to what is hashed.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) {
        try digest.update(bytes.bytePointer, count: bytes.count)
    }

    /// The digest of everything so far: 16 bytes.
    /// - Throws: `failed`.
    public consuming func finish() throws(CryptoError) -> [UInt8] { try digest.finish() }
}
