import Testing

@testable import Media

@Suite("Chunks of WAV and AIFF that are not as the formats say")
struct ChunkPaddingTests {
    private static func little(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    private static func big(_ value: UInt32) -> [UInt8] { little(value).reversed() }
    /// 8 bits, one channel, 8 kHz.
    private static let format: [UInt8] = [1, 0, 1, 0] + little(8000) + little(8000) + [1, 0, 8, 0]

    private static func wav(_ chunks: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(UInt32(chunks.count + 4)) + Array("WAVE".utf8) + chunks
    }

    @Test("An odd chunk without a pad byte, and with one", arguments: [true, false])
    func odd(isPadded: Bool) throws {
        let pad: [UInt8] = isPadded ? [0] : []
        let samples = (0..<101).map { UInt8($0 + 50) }
        let note = Array("note".utf8) + Self.little(5) + Array("hello".utf8) + pad
        let wav = Self.wav(
            note + Array("fmt ".utf8) + Self.little(16) + Self.format + note + Array("data".utf8) + Self.little(101)
                + samples + pad + Array("id3 ".utf8) + Self.little(0))
        #expect(try AudioFile.open(MemorySource(wav)).properties.frameCount == 101)
        let common: [UInt8] = [0, 1] + Self.big(101) + [0, 8, 0x40, 0x0B, 0xFA] + [UInt8](repeating: 0, count: 7)
        let name = Array("NAME".utf8) + Self.big(3) + Array("abc".utf8) + pad
        let chunks =
            name + Array("COMM".utf8) + Self.big(18) + common + name + Array("SSND".utf8) + Self.big(109)
            + [UInt8](repeating: 0, count: 8) + samples + pad
        let aiff = Array("FORM".utf8) + Self.big(UInt32(chunks.count + 4)) + Array("AIFF".utf8) + chunks
        let decoder = try AudioFile.open(MemorySource(aiff))
        #expect(decoder.properties.frameCount == 101 && decoder.metadata.title == "abc")
    }

    /// A head, and zeros after it.
    private final class Sparse: ByteSource {
        let head: [UInt8]
        let length: Int64?
        init(_ head: [UInt8], length: Int64) { (self.head, self.length) = (head, length) }
        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
            let count = Int(min(Int64(buffer.count), max(0, (length ?? 0) - offset)))
            for index in 0..<count {
                let place = offset + Int64(index)
                buffer[index] = place < Int64(head.count) ? head[Int(place)] : 128
            }
            return ByteRead(count: count)
        }
    }

    @Test("A file of more than 4 GiB whose sizes have wrapped plays to its end", arguments: [1, 5000, 0x7FFF_FFFF])
    func wrapped(size: UInt32) throws {
        for rounds in [1, 3] as [Int64] {
            let count = Int64(size) + rounds << 32
            let head =
                Array("RIFF".utf8) + Self.little(size &+ 36) + Array("WAVEfmt ".utf8) + Self.little(16) + Self.format
                + Array("data".utf8) + Self.little(size)
            let decoder = try AudioFile.open(Sparse(head, length: count + 44))
            #expect(decoder.properties.frameCount == count)
            try decoder.seek(toFrame: count - 10)
            #expect(try decoder.decode(frames: 100).count == 10)
            #expect(!decoder.damage.truncated)
        }
    }
}
