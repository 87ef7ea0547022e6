/// HMAC with SHA-256 (RFC 2104, RFC 4231) of bytes that arrive in several calls.
///
/// Any thread, one at a time.
public struct HMACSHA256: ~Copyable {
    /// The length of a code in bytes.
    public static let codeCount = MessageDigest.byteCount

    private let digest: MessageDigest

    /// - Parameter key: any length.
    /// - Throws: `failed` without memory.
    public init(key: borrowing SecretBytes) throws(CryptoError) {
        digest = try .code(key: key)
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Adds bytes to authenticate.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) throws(CryptoError) {
        try digest.update(bytes.bytePointer, count: bytes.count)
    }

    /// Adds bytes to authenticate.
    /// - Throws: `failed`.
    public mutating func update(_ bytes: [UInt8]) throws(CryptoError) {
        try digest.update(bytes, count: bytes.count)
    }

    /// Returns the code of all bytes so far: 32 bytes.
    /// - Throws: `failed`.
    public consuming func finish() throws(CryptoError) -> [UInt8] { try digest.finish() }

    /// Returns the code of `bytes`: 32 bytes.
    /// - Throws: `failed` without memory.
    public static func code(of bytes: [UInt8], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        var mac = try HMACSHA256(key: key)
        try mac.update(bytes)
        return try mac.finish()
    }

    /// Whether `code` is the whole code of `bytes`, compared in constant time.
    /// - Throws: `failed` without memory.
    public static func isValid(
        _ code: [UInt8], of bytes: [UInt8], key: borrowing SecretBytes
    ) throws(CryptoError) -> Bool {
        equalInConstantTime(try self.code(of: bytes, key: key), code)
    }
}
