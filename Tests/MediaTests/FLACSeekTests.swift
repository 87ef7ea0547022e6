import PCM
import Testing

@testable import Media

@Suite("FLAC: seeking is exact to the frame", Tool.needsFLAC)
struct FLACSeekTests {
    private static let shared = Signal(frames: 200_000)
    private var signal: Signal { Self.shared }

    enum Table: CaseIterable {
        case good, none, lyingOffsets, pastTheEnd, beyondAllFiles, unsorted
    }

    @Test("With every kind of seek table", arguments: Table.allCases)
    func tables(table: Table) throws {
        var bytes = try signal.flac(table == .none ? ["--no-seektable"] : ["-S0.1s"])
        if table != .none { try patch(table, in: &bytes) }
        try expectExactSeeks(in: try AudioFile.open(MemorySource(bytes)))
    }

    /// Rewrites the seek points (RFC 9639, 8.5): 8 bytes frame, 8 bytes offset, 2 bytes count.
    private func patch(_ table: Table, in bytes: inout [UInt8]) throws {
        #expect(bytes[42] & 0x7F == 3, "the seek table comes behind STREAMINFO")
        let size = Int(bytes[43]) << 16 | Int(bytes[44]) << 8 | Int(bytes[45])
        let points = (0..<(size / 18)).map { 46 + $0 * 18 }
        #expect(points.count >= 10)
        for (index, point) in points.enumerated() {
            let offset = (point + 8)..<(point + 16)
            switch table {
            case .good, .none: break
            case .lyingOffsets: bytes.replaceSubrange(offset, with: Chunks.big(index * 37, 8))
            case .pastTheEnd: bytes.replaceSubrange(offset, with: Chunks.big(1 << 40, 8))
            case .beyondAllFiles: bytes.replaceSubrange(offset, with: Chunks.big(Int.max - 100 + index, 8))
            case .unsorted: bytes.replaceSubrange(offset, with: Chunks.big((points.count - index) * 10_000, 8))
            }
        }
    }

    @Test(
        "Without a total, with tiny and with huge blocks, many channels",
        arguments: [
            (["-b4096"], true), (["-b192"], false), (["-b65535", "--no-seektable"], false),
        ])
    func encodings(options: [String], fromPipe: Bool) throws {
        try expectExactSeeks(in: try AudioFile.open(MemorySource(try signal.flac(options, fromPipe: fromPipe))))
    }

    @Test("Behind an ID3 tag, and from a source that does not know its length")
    func sources() throws {
        let bytes = try signal.flac()
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 100] + [UInt8](repeating: 0, count: 100)
        try expectExactSeeks(in: try AudioFile.open(MemorySource(tag + bytes)))
        try expectExactSeeks(in: try AudioFile.open(MemorySource(bytes, knowsLength: false)), count: 10)
    }

    @Test("In a damaged file every place stays where it was", arguments: [["-S0.1s"], ["--no-seektable"]])
    func damaged(options: [String]) throws {
        let map = try FrameMap(try signal.flac(["-b1000"] + options))
        // Blocks 20 to 29 are gone, block 50 has a wrong bit, 5000 bytes of garbage are before block 120.
        var bytes = map.header + map.frames(0..<20) + map.frames(30..<120) + [UInt8](repeating: 0xFF, count: 5000)
        bytes[map.middle(of: 50) - (map.offsets[30] - map.offsets[20])] ^= 0x40
        bytes += map.frames(120..<200)
        let whole = try decode(bytes).decoded.samples
        #expect(whole.count == signal.samples.count)
        let decoder = try AudioFile.open(MemorySource(bytes))
        var generator = SeededGenerator(seed: 5)
        let places = (0..<60).map { _ in Int.random(in: 0..<200_000, using: &generator) }
        for frame in places + [19_999, 20_000, 25_500, 29_999, 30_000, 50_000, 50_500, 51_000, 120_000] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Array(whole[(frame * 2)..<min(frame * 2 + 6000, whole.count)])
            #expect(try difference(decoder.decode(frames: 3000), expected) == nil, "frame \(frame)")
        }
    }

    @Test("In a truncated file: what is there, then the end")
    func truncated() throws {
        let map = try FrameMap(try signal.flac(["-b1000", "-S0.1s"]))
        let decoder = try AudioFile.open(MemorySource(Array(map.bytes[..<map.middle(of: 100)])))
        try decoder.seek(toFrame: 99_500)
        #expect(try difference(decoder.decode(frames: 1000), signal.slice(99_500..<100_000)) == nil)
        for frame: Int64 in [100_000, 150_000, 199_999] {
            try decoder.seek(toFrame: frame)
            #expect(try decoder.decode(frames: 1).isEmpty)
            #expect(decoder.damage.truncated)
        }
        try decoder.seek(toFrame: 5)
        #expect(try difference(decoder.decode(frames: 10), signal.slice(5..<15)) == nil)
    }

    @Test(
        "In a file of several streams a seek stays in the first one, and playback continues into the next",
        arguments: [
            (9000, false), (9000, true), (40_000, false), (40_000, true), (20_000, false), (20_000, true),
        ])
    func appendedAlike(frames: Int, isPlayedBefore: Bool) throws {
        let first = Signal(frames: 20_000)
        let others = [Signal(frames: frames, seed: 2), Signal(frames: 20_000, seed: 3)]
        for options in [["-S0.1s"], ["--no-seektable"]] {
            let bytes = try first.flac(options) + others.reduce([]) { try $0 + $1.flac(options) }
            let decoder = try AudioFile.open(MemorySource(bytes))
            let whole = others.reduce(first.samples) { $0 + $1.samples }
            if isPlayedBefore { #expect(difference(decoder.decodeAll().samples, whole) == nil) }
            for frame in [1, 4095, 4096, 7777, 8999, 9000, 12_345, 19_999, 16_000, 0] {
                try decoder.seek(toFrame: Int64(frame))
                #expect(difference(decoder.decodeAll().samples, Array(whole[(frame * 2)...])) == nil, "frame \(frame)")
            }
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("A seek in an ordinary file does not read the file", arguments: [["-S0.1s"], ["--no-seektable"]])
    func cost(options: [String]) throws {
        let source = MemorySource(try signal.flac(options))
        let decoder = try AudioFile.open(source)
        try decoder.seek(toFrame: 150_000)
        #expect(source.bytesRead < source.bytes.count / 3, "of \(source.bytes.count)")
    }

    @Test("A seek to what can be read does not need the rest of the file")
    func unreadableEnd() throws {
        let source = MemorySource(try signal.flac(["-S0.1s"]))
        let decoder = try AudioFile.open(source)
        source.failsFrom = Int64(source.bytes.count / 4 * 3)
        try decoder.seek(toFrame: 10_000)
        #expect(try difference(decoder.decode(frames: 500), signal.slice(10_000..<10_500)) == nil)
    }

    @Test("A source that fails gives what came before, then its error", arguments: [1, 5000])
    func failingSource(bufferFrames: Int) throws {
        let source = MemorySource(try signal.flac())
        let decoder = try AudioFile.open(source)
        source.failsFrom = Int64(source.bytes.count / 2)
        let before = decoder.decodeAll(bufferFrames: bufferFrames)
        #expect(before.error == .source(MemorySource.failure))
        #expect(before.samples.count > signal.samples.count / 3)
        #expect(difference(before.samples, Array(signal.samples.prefix(before.samples.count))) == nil)
        #expect(decoder.decodeAll().error == .source(MemorySource.failure))
    }

    @Test("A seek that failed with its source is carried out by the next read")
    func failedSeek() throws {
        let source = MemorySource(try signal.flac())
        let decoder = try AudioFile.open(source)
        source.failsFrom = Int64(source.bytes.count / 2)
        #expect(throws: MediaError.source(MemorySource.failure)) { try decoder.seek(toFrame: 190_000) }
        source.failsFrom = .max
        #expect(try difference(decoder.decode(frames: 500), signal.slice(190_000..<190_500)) == nil)
        #expect(decoder.damage.isEmpty)
    }

    @Test("After a failed read the next one goes on without a seek")
    func recovery() throws {
        let source = MemorySource(try signal.flac())
        let decoder = try AudioFile.open(source)
        source.failsFrom = Int64(source.bytes.count / 2)
        let before = decoder.decodeAll()
        source.failsFrom = .max
        #expect(difference(before.samples + decoder.decodeAll().samples, signal.samples) == nil)
        #expect(decoder.damage.isEmpty)
    }

    private func expectExactSeeks(in decoder: any AudioDecoder, count: Int = 40) throws {
        let last = signal.frameCount
        // Before anything was read.
        try decoder.seek(toFrame: 123_456)
        #expect(try difference(decoder.decode(frames: 100), signal.slice(123_456..<123_556)) == nil)

        var generator = SeededGenerator(seed: 7)
        let places = (0..<count).map { _ in Int.random(in: 0..<last, using: &generator) }
        for frame in places + [0, 1, 4095, 4096, last - 1, last - 2, 0] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = signal.slice(frame..<min(frame + 700, last))
            #expect(try difference(decoder.decode(frames: 700), expected) == nil, "frame \(frame)")
        }
        for frame in [Int64(last), Int64(last) + 1, Int64(last) * 2, .max] {
            try decoder.seek(toFrame: frame)
            #expect(try decoder.decode(frames: 1).isEmpty)
            #expect(try decoder.decode(frames: 1).isEmpty)
        }
        try decoder.seek(toFrame: -5)
        #expect(try difference(decoder.decode(frames: 10), signal.slice(0..<10)) == nil)
        #expect(decoder.damage.isEmpty)
    }
}
