import CMbedTLS

/// AES with cipher block chaining (NIST SP 800-38A, 6.2), with a key of 128 or 256 bits: whole blocks, no padding.
/// Nothing is authenticated: use it only for formats that require it.
///
/// Any thread, one at a time; does not allocate after `init`.
public struct AESCBC: ~Copyable {
    /// The operation that a value applies to all of its messages.
    public enum Direction: Sendable { case encrypt, decrypt }

    private let cipher: AESContext
    private let direction: Direction
    private var vector: [UInt8]

    /// - Parameters:
    ///   - key: 16 or 32 bytes; it is expanded here and not stored.
    ///   - initializationVector: 16 bytes.
    /// - Throws: `wrongLength` or `failed`.
    public init(
        _ direction: Direction, key: borrowing SecretBytes, initializationVector: [UInt8]
    ) throws(CryptoError) {
        guard initializationVector.count == AESContext.blockCount else {
            throw .wrongLength(.initializationVector, bytes: initializationVector.count)
        }
        cipher = try AESContext(key: key, direction == .encrypt ? .encrypt : .decrypt)
        self.direction = direction
        vector = initializationVector
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Encrypts or decrypts the next blocks in place; the next call continues the chain.
    /// - Throws: `wrongLength(.message)` unless the count is a multiple of 16, or `failed`.
    public mutating func process(_ blocks: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard blocks.count % AESContext.blockCount == 0 else { throw .wrongLength(.message, bytes: blocks.count) }
        guard let pointer = blocks.bytePointer else { return }
        let mode = direction == .encrypt ? MBEDTLS_AES_ENCRYPT : MBEDTLS_AES_DECRYPT
        try CryptoError.check(mbedtls_aes_crypt_cbc(cipher.pointer, mode, blocks.count, &vector, pointer, pointer))
    }

    /// Encrypts or decrypts the next blocks. Allocates.
    /// - Throws: `wrongLength(.message)` or `failed`.
    public mutating func process(_ blocks: [UInt8]) throws(CryptoError) -> [UInt8] {
        var blocks = blocks
        try blocks.withMutableRawBytes { (all) throws(CryptoError) in try process(all) }
        return blocks
    }
}
