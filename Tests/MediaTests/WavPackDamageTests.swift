import PCM
import Testing

@testable import Media

@Suite("WavPack: damaged, cut and hidden files", Tool.needsWavPack, Tool.needsFFmpeg)
struct WavPackDamageTests {
    private static let signal = Signal(frames: 30_001, channels: 2, depth: 16)
    private static let size = 1000
    private static func map(_ signal: Signal = signal) throws -> WavPackMap {
        WavPackMap(try signal.wavpack(["--blocksize=\(size)", "-w", "Title=Title"]))
    }

    /// The signal with silence instead of some frames.
    private static func silenced(_ frames: Range<Int>, _ signal: Signal = signal) -> [Int32] {
        var samples = signal.samples
        let channels = signal.format.channelCount
        for index in (frames.lowerBound * channels)..<(frames.upperBound * channels) { samples[index] = 0 }
        return samples
    }

    private static func check(_ bytes: [UInt8], _ expected: [Int32], incidents: Int, _ comment: Comment) throws {
        let channels = signal.format.channelCount
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(difference(decoder.decodeAll().samples, expected) == nil, comment)
        #expect(decoder.damage.incidents == incidents && !decoder.damage.truncated, comment)
        let count = expected.count / channels
        for frame in [0, 9999, 10_000, 10_500, 11_000, 12_000, count - 1001, count - 1, 5] {
            try decoder.seek(toFrame: Int64(frame))
            let part = Array(expected[(channels * frame)...].prefix(channels * 1500))
            #expect(try difference(decoder.decode(frames: 1500), part) == nil, "\(comment) frame \(frame)")
        }
    }

    @Test("A damaged block is silence of its length, wherever its damage is")
    func damagedBlock() throws {
        let map = try Self.map()
        let number = 10
        let frames = 10_000..<11_000
        let silenced = Self.silenced(frames)
        let size = map.blocks[number].count
        // Marker, size (smaller, larger, beyond the file), version, index, number of frames, flags, checksum, metadata,
        // sound, end.
        for (place, bit) in [
            (0, 0), (4, 1), (5, 3), (6, 3), (9, 2), (10, 0), (16, 3), (18, 4), (20, 2), (21, 2), (24, 3), (28, 5),
            (33, 1),
            (40, 2), (size / 2, 4), (size - 1, 7),
        ] as [(Int, UInt8)] {
            var broken = map
            broken.blocks[number][place] ^= 1 << bit
            try Self.check(broken.bytes, silenced, incidents: 1, "byte \(place), bit \(bit)")
        }
        var broken = map
        broken.blocks[number] = [UInt8](repeating: 0, count: size)
        try Self.check(broken.bytes, silenced, incidents: 1, "zeros")
        broken.blocks.remove(at: number)
        try Self.check(broken.bytes, silenced, incidents: 1, "missing")
    }

    @Test("The first block and the last one, too")
    func ends() throws {
        let map = try Self.map()
        var broken = map
        broken.blocks[0][200] ^= 1
        try Self.check(broken.bytes, Self.silenced(0..<1000), incidents: 1, "first")
        broken = map
        let last = map.blocks.lastIndex { WavPackHeader($0)?.frameCount ?? 0 > 0 } ?? 0
        broken.blocks[last][100] ^= 1
        let start = Int(map.header(last)?.index ?? 0)
        try Self.check(broken.bytes, Self.silenced(start..<30_001), incidents: 1, "last")
    }

    @Test("Damage in one of the blocks with the channels of the same frames")
    func channels() throws {
        let signal = Signal(frames: 5000, channels: 6, depth: 24)
        let map = try Self.map(signal)
        let blocks = map.blocks.indices.filter { map.header($0)?.index == 2000 && map.header($0)?.frameCount == 1000 }
        #expect(blocks.count > 2)
        let silenced = Self.silenced(2000..<3000, signal)
        for block in blocks {
            var broken = map
            broken.blocks[block][60] ^= 0x10
            let (decoded, damage) = try decode(broken.bytes)
            #expect(difference(decoded.samples, silenced) == nil)
            #expect(damage.incidents == 1 && damage.silencedFrames == 1000 && !damage.truncated)
            broken.blocks.remove(at: block)
            #expect(try difference(decode(broken.bytes).decoded.samples, silenced) == nil)
        }
    }

    @Test("Samples with a wrong checksum are silence in files whose blocks have none")
    func withoutChecksums() throws {
        let bytes = try Self.signal.ffmpeg(["-c:a", "wavpack", "-frame_size", "1000"], to: "file.wv")
        var map = WavPackMap(bytes)
        guard let block = map.blocks.indices.first(where: { map.header($0)?.index == 10_000 }) else {
            Issue.record("no block begins with frame 10,000")
            return
        }
        map.blocks[block][map.blocks[block].count * 2 / 3] ^= 0x20
        let count = map.header(block)?.frameCount ?? 0
        let (decoded, damage) = try decode(map.bytes)
        #expect(difference(decoded.samples, Self.silenced(10_000..<(10_000 + count))) == nil)
        #expect(damage.incidents == 1)
    }

    @Test("Bytes between blocks cost nothing")
    func junk() throws {
        var map = try Self.map()
        for block in stride(from: 3, to: map.blocks.count, by: 4) {
            map.blocks[block] += Array("wvpk".utf8) + [UInt8](repeating: 0x77, count: 3001)
        }
        try Self.check(map.bytes, Self.signal.samples, incidents: 0, "junk")
    }

    @Test("A file that is cut plays to the cut, and says so")
    func cut() throws {
        let map = try Self.map()
        let start = map.blocks[..<20].reduce(0) { $0 + $1.count }
        for length in [start, start + 10, start + 40, start + map.blocks[20].count - 1] {
            for knowsLength in [true, false] {
                let source = MemorySource(Array(map.bytes.prefix(length)), knowsLength: knowsLength)
                let decoder = try AudioFile.open(source)
                #expect(difference(decoder.decodeAll().samples, Self.signal.slice(0..<20_000)) == nil)
                #expect(decoder.damage.truncated && decoder.damage.incidents == 0, "\(length)")
            }
        }
    }

    @Test("A file whose beginning is cut off begins with the first whole block")
    func cutFront() throws {
        let map = try Self.map()
        for count in [0, 50] {
            let bytes = Array(map.blocks[4].suffix(count)) + map.blocks[5...].flatMap(\.self)
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.frameCount == 25_001)
            #expect(difference(decoder.decodeAll().samples, Self.signal.slice(5000..<30_001)) == nil)
            try decoder.seek(toFrame: 20_000)
            #expect(try difference(decoder.decode(frames: 100), Self.signal.slice(25_000..<25_100)) == nil)
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("A tag or other bytes in front hide nothing")
    func front() throws {
        let bytes = try Self.map().bytes
        let title = Array("TPE1".utf8) + [0, 0, 0, 3, 0, 0, 0, 0x61, 0x62]
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(title.count)] + title
        var generator = SeededGenerator(seed: 4)
        let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for (front, hasArtist) in [(tag, true), (noise, false), (tag + noise, true), (Array("hello\n".utf8), false)] {
            let decoder = try AudioFile.open(MemorySource(front + bytes))
            #expect(decoder.properties.container == .wavpack && decoder.properties.frameCount == 30_001)
            #expect(decoder.metadata.title == "Title" && decoder.metadata.artist == (hasArtist ? "ab" : nil))
            #expect(difference(decoder.decodeAll().samples, Self.signal.samples) == nil && decoder.damage.isEmpty)
        }
    }

    @Test("Bytes that only begin like WavPack are damaged, and named")
    func notWavPack() {
        for bytes in [Array("wvpk".utf8), Array("wvpk".utf8) + [UInt8](repeating: 0x18, count: 5000)] {
            #expect(throws: MediaError.damaged(what: "WavPack without a block that can be decoded")) {
                try AudioFile.open(MemorySource(bytes))
            }
        }
    }

    @Test("A wrong index of one block costs that block alone", arguments: [1000 * 12 + 90_000, 4_000_000_000, 7])
    func wrongIndex(index: Int) throws {
        let map = try Self.map()
        let whole = try AudioFile.open(RepeatedBlocks(map, count: 40)).decodeAll().samples
        let samples = try AudioFile.open(RepeatedBlocks(map, count: 40, wrong: (12, index))).decodeAll().samples
        try #require(samples.count == whole.count && whole.count == 80_000)
        #expect(difference(Array(samples[..<24_000]), Array(whole[..<24_000])) == nil)
        #expect(difference(Array(samples[26_000...]), Array(whole[26_000...])) == nil)
    }

    @Test("A seek in a file of gigabytes reads little")
    func largeFile() throws {
        // The blocks of two seconds, again and again: their indexes are those of a day.
        let map = try Self.map()
        let source = RepeatedBlocks(map, count: 100_000)
        let decoder = try AudioFile.open(source)
        #expect(decoder.properties.frameCount == 100_000_000)
        for frame in [99_999_000, 1, 50_123_456, 77_000_001] {
            let before = source.bytesRead
            try decoder.seek(toFrame: Int64(frame))
            #expect(try decoder.decode(frames: 10).count == 20)
            #expect(source.bytesRead - before < 2_000_000)
        }
    }
}

/// Blocks without checksums, each with the index that fits its position.
private final class RepeatedBlocks: ByteSource {
    private let block: [UInt8]
    private let count: Int
    /// A block with another index.
    private let wrong: (number: Int, index: Int)?
    private(set) var bytesRead = 0

    init(_ map: WavPackMap, count: Int, wrong: (number: Int, index: Int)? = nil) {
        var block = map.blocks[3]
        // The flag for a checksum is removed, and so is the length of the file; the checksum stays as other data.
        block[27] &= 0xEF
        block[12...15] = [0xFF, 0xFF, 0xFF, 0xFF]
        block[block.count - 6] = 0x20
        self.block = block
        self.count = count
        self.wrong = wrong
    }

    var length: Int64? { Int64(block.count) * Int64(count) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset < length ?? 0 else { return .end }
        let number = Int(offset) / block.count
        var bytes = block
        let index = wrong?.number == number ? wrong?.index ?? 0 : number * 1000
        for byte in 0..<4 { bytes[16 + byte] = UInt8(truncatingIfNeeded: index >> (8 * byte)) }
        let part = bytes[(Int(offset) % block.count)...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        bytesRead += part.count
        return .bytes(part.count)
    }
}
