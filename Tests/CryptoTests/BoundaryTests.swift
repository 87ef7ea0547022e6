import Crypto
import Platform
import Testing

@Suite("Crypto: lengths, pieces and secrets")
struct BoundaryTests {
    @Test("A key has 16 or 32 bytes", arguments: [0, 1, 15, 17, 24, 31, 33, 64])
    func keyLengths(count: Int) {
        let zeros = [UInt8](repeating: 0, count: 16)
        #expect(throws: CryptoError.wrongLength(.key, bytes: count)) {
            _ = try AESGCM(key: SecretBytes(count: count) { _ in })
        }
        #expect(throws: CryptoError.wrongLength(.key, bytes: count)) {
            _ = try AESCTR(key: SecretBytes(count: count) { _ in }, initialCounter: zeros)
        }
        #expect(throws: CryptoError.wrongLength(.key, bytes: count)) {
            _ = try AESCBC(.decrypt, key: SecretBytes(count: count) { _ in }, initializationVector: zeros)
        }
    }

    @Test("Nonces, counters, vectors and blocks of another length are refused", arguments: [0, 8, 11, 13, 15, 17, 32])
    func otherLengths(count: Int) throws {
        let bytes = [UInt8](repeating: 0, count: count)
        var gcm = try AESGCM(key: SecretBytes(count: 16) { _ in })
        #expect(throws: CryptoError.wrongLength(.nonce, bytes: count)) { _ = try gcm.seal([1], nonce: bytes) }
        #expect(throws: CryptoError.wrongLength(.nonce, bytes: count)) { _ = try gcm.open(Array(0..<17), nonce: bytes) }
        #expect(throws: CryptoError.wrongLength(.counter, bytes: count)) {
            _ = try AESCTR(key: SecretBytes(count: 16) { _ in }, initialCounter: bytes)
        }
        #expect(throws: CryptoError.wrongLength(.initializationVector, bytes: count)) {
            _ = try AESCBC(.encrypt, key: SecretBytes(count: 16) { _ in }, initializationVector: bytes)
        }
        var cbc = try AESCBC(
            .encrypt, key: SecretBytes(count: 16) { _ in }, initializationVector: [UInt8](repeating: 0, count: 16))
        if count % 16 != 0 {
            #expect(throws: CryptoError.wrongLength(.message, bytes: count)) { _ = try cbc.process(bytes) }
        }
    }

    @Test("Tags shorter than 16 bytes are refused, so that they cannot be guessed", arguments: [0, 4, 12, 15, 17])
    func tagLengths(count: Int) throws {
        var gcm = try AESGCM(key: SecretBytes(count: 32) { _ in })
        var message: [UInt8] = [1, 2, 3]
        let (nonce, tag) = ([UInt8](repeating: 0, count: 12), [UInt8](repeating: 0, count: count))
        #expect(throws: CryptoError.wrongLength(.tag, bytes: count)) {
            try message.withUnsafeMutableBytes { message in
                try nonce.withUnsafeBytes { nonce in
                    try tag.withUnsafeBytes { tag in
                        try gcm.open(
                            inPlace: message, nonce: nonce,
                            authenticating: UnsafeRawBufferPointer(start: nil, count: 0),
                            tag: tag)
                    }
                }
            }
        }
    }

    @Test("A message that fails authentication is zeros, not plain text")
    func nothingUnauthenticated() throws {
        var gcm = try AESGCM(key: SecretBytes(count: 32) { _ in })
        let nonce = [UInt8](repeating: 7, count: 12)
        var sealed = try gcm.seal([UInt8](repeating: 0x55, count: 100), nonce: nonce)
        let tag = [UInt8](repeating: 0, count: 16)
        #expect(throws: CryptoError.notAuthentic) {
            try sealed.withUnsafeMutableBytes { sealed in
                try nonce.withUnsafeBytes { nonce in
                    try tag.withUnsafeBytes { tag in
                        try gcm.open(
                            inPlace: UnsafeMutableRawBufferPointer(rebasing: sealed[..<100]), nonce: nonce,
                            authenticating: UnsafeRawBufferPointer(start: nil, count: 0), tag: tag)
                    }
                }
            }
        }
        #expect(Array(sealed[..<100]) == [UInt8](repeating: 0, count: 100))
    }

    @Test("A chunk of 64 KiB and an empty message survive sealing", arguments: [0, 1, 15, 16, 17, 65_536])
    func roundTrip(count: Int) throws {
        var gcm = try AESGCM(key: SecretBytes(randomCount: 32))
        let message = SystemRandomSource().bytes(count)
        let nonce = SystemRandomSource().bytes(12)
        let sealed = try gcm.seal(message, nonce: nonce, authenticating: [1])
        #expect(sealed.count == count + 16)
        #expect(try gcm.open(sealed, nonce: nonce, authenticating: [1]) == message)
    }

    @Test("A seek in a counter stream crosses every byte of the counter")
    func counterCarries() throws {
        let key = SecretBytes(count: 16) { $0.copyBytes(from: 1...16) }
        let offset = UInt64(0x0123_4567_89AB_CDEF)
        var far = try AESCTR(key: key, initialCounter: [UInt8](repeating: 0xF8, count: 16))
        try far.seek(to: offset * 16)
        // The same sum by hand, a byte at a time.
        var counter = [UInt8](repeating: 0xF8, count: 16)
        var carry = 0
        for index in 0..<16 {
            let sum =
                0xF8 + (index < 8 ? Int((offset & 0x0FFF_FFFF_FFFF_FFFF) >> (8 * UInt64(index)) & 255) : 0) + carry
            counter[15 - index] = UInt8(sum & 255)
            carry = sum >> 8
        }
        var near = try AESCTR(key: key, initialCounter: counter)
        let zeros = [UInt8](repeating: 0, count: 64)
        #expect(try far.process(zeros) == near.process(zeros))
    }

    @Test("Random secrets come from the given source and differ otherwise")
    func randomSecrets() {
        let first = SecretBytes(randomCount: 32).withUnsafeBytes { Array($0) }
        let second = SecretBytes(randomCount: 32).withUnsafeBytes { Array($0) }
        #expect(first != second)
        #expect(SecretBytes(randomCount: 4, from: Counting()).withUnsafeBytes { Array($0) } == [0, 1, 2, 3])
    }

    @Test("Equality in constant time is equality")
    func constantTime() {
        #expect(equalInConstantTime([], []))
        #expect(equalInConstantTime([1, 2, 3], [1, 2, 3]))
        #expect(!equalInConstantTime([1, 2, 3], [1, 2, 4]))
        #expect(!equalInConstantTime([1, 2, 3], [1, 2]))
    }
}

/// A source whose bytes count up.
private final class Counting: RandomSource {
    func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices { buffer[index] = UInt8(truncatingIfNeeded: index) }
    }
}
