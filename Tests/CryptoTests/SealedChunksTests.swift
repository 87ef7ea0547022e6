import Platform
import Testing

@testable import Crypto

@Suite("Sealed chunks")
struct SealedChunksTests {
    private static let identity = Array(UInt8(0)..<16)
    private static let full = SealedLayout.chunkCount

    private func key(_ first: UInt8 = 1) -> SecretBytes {
        SecretBytes(copying: [first] + [UInt8](repeating: 7, count: 31))
    }

    /// The file of `plain`, chunk by chunk.
    private func sealed(_ plain: [UInt8], identity: [UInt8] = identity) throws -> (header: [UInt8], chunks: [[UInt8]]) {
        var seal = try SealedChunks(newFor: identity, key: key())
        var chunks: [[UInt8]] = []
        let count = try #require(SealedLayout.chunks(of: Int64(plain.count)))
        for number in 0..<count {
            let start = Int(number) * Self.full
            let part = plain[start..<min(start + Self.full, plain.count)]
            chunks.append(
                try Array(part).withUnsafeBytes { try seal.seal($0, chunk: number, isLast: number == count - 1) })
        }
        return (seal.header, chunks)
    }

    private func opens(
        _ bytes: [UInt8], _ header: [UInt8], chunk: Int64, isLast: Bool, identity: [UInt8] = identity, key: UInt8 = 1
    ) -> [UInt8]? {
        guard var seal = try? SealedChunks(opening: header, identity: identity, key: self.key(key)) else { return nil }
        return try? seal.open(bytes, chunk: chunk, isLast: isLast)
    }

    @Test(
        "Sealed bytes are opened again, and the length of the file is known before",
        arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])
    func roundTrip(count: Int) throws {
        let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let (header, chunks) = try sealed(plain)
        let file = chunks.reduce(header, +)
        #expect(SealedLayout.sealedCount(of: Int64(count)) == Int64(file.count))
        var opened: [UInt8] = []
        for (number, bytes) in chunks.enumerated() {
            let offset = try #require(SealedLayout.offset(ofChunk: Int64(number)))
            #expect(Array(file[Int(offset)...].prefix(bytes.count)) == bytes)
            opened += try #require(opens(bytes, header, chunk: Int64(number), isLast: number == chunks.count - 1))
        }
        #expect(opened == plain)
    }

    @Test("A chunk opens only in its place, of its file and item, with its key, and as a last one only if it is one")
    func places() throws {
        let (header, chunks) = try sealed([UInt8](repeating: 5, count: 3 * Self.full))
        let other = try sealed([UInt8](repeating: 5, count: 3 * Self.full))
        #expect(opens(chunks[1], header, chunk: 1, isLast: false) != nil)
        #expect(opens(chunks[1], header, chunk: 0, isLast: false) == nil)
        #expect(opens(chunks[1], header, chunk: 1, isLast: true) == nil)
        #expect(opens(chunks[2], header, chunk: 2, isLast: false) == nil)
        #expect(opens(other.chunks[1], header, chunk: 1, isLast: false) == nil)
        #expect(opens(chunks[1], header, chunk: 1, isLast: false, identity: Array(Self.identity.reversed())) == nil)
        #expect(opens(chunks[1], header, chunk: 1, isLast: false, key: 2) == nil)
        // 2³² more: the number has 64 bits.
        #expect(opens(chunks[1], header, chunk: 1 + 1 << 32, isLast: false) == nil)
    }

    @Test("A torn or changed chunk does not open", arguments: [false, true])
    func torn(isLast: Bool) throws {
        let plain = [UInt8](repeating: 9, count: isLast ? 300 : 2 * Self.full)
        let (header, chunks) = try sealed(plain)
        let whole = chunks[0]
        for count in [0, 1, 12, 27, 28, 29, whole.count - 17, whole.count - 1] {
            #expect(opens(Array(whole[..<count]), header, chunk: 0, isLast: isLast) == nil)
        }
        #expect(opens(whole + [0], header, chunk: 0, isLast: isLast) == nil)
        for place in [0, 11, 12, whole.count / 2, whole.count - 17, whole.count - 16, whole.count - 1] {
            var changed = whole
            changed[place] ^= 1
            #expect(opens(changed, header, chunk: 0, isLast: isLast) == nil)
        }
        #expect(opens(whole, header, chunk: 0, isLast: isLast) != nil)
    }

    @Test("A chunk that is sealed again has another nonce, and both open")
    func again() throws {
        var seal = try SealedChunks(newFor: Self.identity, key: key())
        let plain: [UInt8] = [1, 2, 3]
        let both = try (0..<2).map { _ in try plain.withUnsafeBytes { try seal.seal($0, chunk: 0, isLast: true) } }
        #expect(both[0][..<12] != both[1][..<12])
        for one in both { #expect(opens(one, seal.header, chunk: 0, isLast: true) == plain) }
    }

    @Test("Only the last chunk may be short")
    func short() throws {
        var seal = try SealedChunks(newFor: Self.identity, key: key())
        let plain = [UInt8](repeating: 0, count: Self.full + 1)
        for (count, isLast) in [(Self.full - 1, false), (0, false), (Self.full + 1, false), (Self.full + 1, true)] {
            #expect(throws: CryptoError.wrongLength(.message, bytes: count)) {
                try Array(plain[..<count]).withUnsafeBytes { _ = try seal.seal($0, chunk: 0, isLast: isLast) }
            }
        }
    }

    @Test("A header that is none, a key or an identity of another length")
    func wrongParts() throws {
        let header = try sealed([1]).header
        for wrong in [[], Array(header.dropLast()), header + [0], [0] + header.dropFirst()] as [[UInt8]] {
            #expect(opens([1], wrong, chunk: 0, isLast: true) == nil)
        }
        #expect(throws: CryptoError.wrongLength(.key, bytes: 16)) {
            _ = try SealedChunks(newFor: Self.identity, key: SecretBytes(copying: Array(0..<16))).header
        }
        #expect(throws: CryptoError.wrongLength(.message, bytes: 3)) {
            _ = try SealedChunks(newFor: [1, 2, 3], key: SecretBytes(copying: Array(0..<32))).header
        }
    }

    @Test("The layout, and numbers that no file has")
    func layout() {
        #expect(SealedLayout.sealedCount(of: -1) == nil && SealedLayout.sealedCount(of: .max) == nil)
        #expect(SealedLayout.offset(ofChunk: -1) == nil && SealedLayout.offset(ofChunk: .max) == nil)
        #expect(SealedLayout.offset(ofChunk: 1) == Int64(20 + 65_564))
        #expect(SealedLayout.chunk(at: 65_536) == (1, 0) && SealedLayout.chunk(at: 65_535) == (0, 65_535))
        let lengths: [(Int64, Int64)] = [
            (0, 0), (19, 0), (20, 0), (65_583, 0), (65_584, 1), (131_147, 1), (131_148, 2),
        ]
        for (length, chunks) in lengths { #expect(SealedLayout.fullChunks(inFileOf: length) == chunks) }
    }
}
