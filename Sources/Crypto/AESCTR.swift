import CMbedTLS

/// The key stream of AES in counter mode (NIST SP 800-38A, 6.5), with a key of 128 or 256 bits. Encrypting and
/// decrypting are the same operation. Nothing is authenticated: use it only for formats that require it.
///
/// Any thread, one at a time; does not allocate after `init`.
public struct AESCTR: ~Copyable {
    private let cipher: AESContext
    private let initialCounter: [UInt8]
    private var counter: [UInt8]
    // The key stream of the block in progress; a secret like the key.
    private let block: UnsafeMutablePointer<UInt8>
    private var offsetInBlock = 0

    /// - Parameters:
    ///   - key: 16 or 32 bytes; it is expanded here and not stored.
    ///   - initialCounter: 16 bytes, a number in big-endian order that grows by 1 with each block of 16 bytes.
    /// - Throws: `wrongLength` or `failed`.
    public init(key: borrowing SecretBytes, initialCounter: [UInt8]) throws(CryptoError) {
        guard initialCounter.count == AESContext.blockCount else {
            throw .wrongLength(.counter, bytes: initialCounter.count)
        }
        cipher = try AESContext(key: key, .encrypt)
        self.initialCounter = initialCounter
        counter = initialCounter
        block = .allocate(capacity: AESContext.blockCount)
        block.initialize(repeating: 0, count: AESContext.blockCount)
    }

    deinit {
        mbedtls_platform_zeroize(block, AESContext.blockCount)
        block.deallocate()
    }

    /// Encrypts or decrypts the next bytes of the stream in place.
    /// - Throws: `failed`.
    public mutating func process(_ bytes: UnsafeMutableRawBufferPointer) throws(CryptoError) {
        guard let pointer = bytes.bytePointer else { return }
        try CryptoError.check(
            mbedtls_aes_crypt_ctr(cipher.pointer, bytes.count, &offsetInBlock, &counter, block, pointer, pointer))
    }

    /// Continues at `offset`, in bytes from the start of the stream. The counter wraps at 2^128, as the standard
    /// requires.
    /// - Throws: `failed`.
    public mutating func seek(to offset: UInt64) throws(CryptoError) {
        counter = initialCounter
        var carry = offset / UInt64(AESContext.blockCount)
        for index in counter.indices.reversed() where carry > 0 {
            carry &+= UInt64(counter[index])  // The quotient is below 2^60: no overflow.
            counter[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        offsetInBlock = 0
        // Inside a block, mbedTLS needs the block's key stream: encrypting the bytes before `offset` produces it.
        var skipped = [UInt8](repeating: 0, count: Int(offset % UInt64(AESContext.blockCount)))
        guard !skipped.isEmpty else { return }
        let count = skipped.count
        try CryptoError.check(
            skipped.withUnsafeMutableBufferPointer { skipped in
                mbedtls_aes_crypt_ctr(
                    cipher.pointer, count, &offsetInBlock, &counter, block, skipped.baseAddress, skipped.baseAddress)
            })
    }

    /// Encrypts or decrypts the next bytes of the stream. Allocates.
    /// - Throws: `failed`.
    public mutating func process(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var bytes = bytes
        try bytes.withMutableRawBytes { (all) throws(CryptoError) in try process(all) }
        return bytes
    }
}
