import Crypto
import PCM
import Testing

@testable import Media

@Suite("Segments that are encrypted as a whole (HLS, AES-128)")
struct SegmentDecryptionTests {
    private static let key = EncryptionTests.bytes(Packaged.key)
    private static let vector = (0..<16).map { UInt8($0) }

    /// Encrypts with padding by PKCS #7.
    private static func encrypted(_ plain: [UInt8]) throws -> [UInt8] {
        let padding = 16 - plain.count % 16
        var cipher = try AESCBC(.encrypt, key: SecretBytes(copying: key), initializationVector: vector)
        return try cipher.process(plain + [UInt8](repeating: UInt8(padding), count: padding))
    }

    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 256) }
    }

    private static func read(_ source: some ByteSource, _ count: Int, at offset: Int) throws -> ([UInt8], ByteRead) {
        var buffer = [UInt8](repeating: 0xEE, count: count)
        let answer = try buffer.withUnsafeMutableBytes { try source.read(into: $0, at: Int64(offset)) }
        guard case .bytes(let found) = answer else { return ([], answer) }
        return (Array(buffer[..<found]), answer)
    }

    @Test("Every offset and size gives the plain bytes, and the end is the end", arguments: [1, 15, 16, 17, 32, 1000])
    func everyOffset(count: Int) throws {
        let plain = Self.bytes(count)
        for largestRead in [Int.max, 7] {
            let memory = MemorySource(try Self.encrypted(plain), knowsLength: false)
            memory.largestRead = largestRead
            let source = SegmentDecryption(memory, key: Self.key, initializationVector: Self.vector)
            for offset in stride(from: 0, to: count + 40, by: count > 100 ? 13 : 1) {
                for size in [1, 5, 16, 100, 2000] {
                    let (found, answer) = try Self.read(source, size, at: offset)
                    if offset >= count {
                        #expect(answer == .end)
                    } else {
                        #expect(!found.isEmpty && found.elementsEqual(plain[offset...].prefix(found.count)))
                        #expect(found.count == min(size, count - offset))
                    }
                }
            }
        }
    }

    @Test("Bytes that are not there yet, a cut, and a wrong key")
    func failures() throws {
        let encrypted = try Self.encrypted(Self.bytes(200))
        let late = MemorySource(encrypted)
        late.available = 100
        let waiting = SegmentDecryption(late, key: Self.key, initializationVector: Self.vector)
        #expect(try Self.read(waiting, 150, at: 0).1 == .notYet)
        late.available = .max
        #expect(try Self.read(waiting, 150, at: 0).0 == Array(Self.bytes(200).prefix(150)))
        let cut = SegmentDecryption(
            MemorySource(Array(encrypted.dropLast(3))), key: Self.key, initializationVector: Self.vector)
        #expect(throws: ByteSourceError.self) { try Self.read(cut, 500, at: 0) }
        var other = Self.key
        other[3] ^= 1
        let wrong = SegmentDecryption(MemorySource(encrypted), key: other, initializationVector: Self.vector)
        #expect(throws: ByteSourceError.self) { try Self.read(wrong, 500, at: 0) }
    }

    @Test("A whole file decodes through it to its source", Tool.needsFFmpeg)
    func decodes() throws {
        let signal = Signal(frames: 60_000)
        for options in [[], MP4Tests.layouts[2]] {
            let file = try Self.encrypted(try signal.ffmpeg(MP4Tests.flac + options, to: "file.mp4"))
            let memory = MemorySource(file, knowsLength: false)
            memory.notYetEvery = 3
            let decoder = try AudioFile.open(
                SegmentDecryption(memory, key: Self.key, initializationVector: Self.vector))
            #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
        }
    }
}
