/// SHA-256 (FIPS 180-4) of bytes that arrive in several calls.
///
/// Any thread, one at a time.
public struct SHA256: ~Copyable {
    /// The length of a digest in bytes.
    public static let digestCount = MessageDigest.byteCount

    private let digest: MessageDigest

    /// - Throws: `failed` without memory.
    public init() throws(CryptoError) {
        digest = try .hash()
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Adds bytes to hash.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) {
        try digest.update(bytes.bytePointer, count: bytes.count)
    }

    /// Adds bytes to hash.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: [UInt8]) throws(CryptoError) {
        try digest.update(bytes, count: bytes.count)
    }

    /// Returns the digest of all bytes so far: 32 bytes.
    /// - Throws: `failed`.
    public consuming func finish() throws(CryptoError) -> [UInt8] { try digest.finish() }

    /// Returns the digest of `bytes`: 32 bytes.
    /// - Throws: `failed` without memory.
    public static func hash(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var hash = try SHA256()
        try hash.update(bytes)
        return try hash.finish()
    }
}
