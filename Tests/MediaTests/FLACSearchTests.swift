import PCM
import Testing

@testable import Media

@Suite("FLAC that does not begin at the beginning", Tool.needsFLAC)
struct FLACSearchTests {
    private static let shared = Signal(frames: 30_500)
    private var signal: Signal { Self.shared }

    private func map(_ options: [String] = []) throws -> FrameMap {
        try FrameMap(try signal.flac(["-b1000", "--no-padding"] + options))
    }

    /// Plays and seeks; every sample has to be that of the signal from `first` on.
    private func expectSignal(in bytes: [UInt8], from first: Int = 0, knowsLength: Bool = true) throws {
        let decoder = try AudioFile.open(MemorySource(bytes, knowsLength: knowsLength))
        #expect(decoder.properties.container == .flac)
        #expect(decoder.properties.format == signal.format)
        let frames = signal.frameCount - first
        #expect(difference(decoder.decodeAll().samples, signal.slice(first..<signal.frameCount)) == nil)
        #expect(decoder.damage.isEmpty)
        for frame in [0, 1, 999, 1000, 12_345, frames - 1, 5000] where frame < frames {
            try decoder.seek(toFrame: Int64(frame))
            let expected = signal.slice((first + frame)..<min(first + frame + 1500, signal.frameCount))
            #expect(try difference(decoder.decode(frames: 1500), expected) == nil, "frame \(frame)")
        }
        try decoder.seek(toFrame: Int64(frames))
        #expect(try decoder.decode(frames: 1).isEmpty)
        #expect(decoder.damage.isEmpty)
    }

    private func noise(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 17)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    @Test("Behind other bytes, with its header", arguments: [1, 3, 4, 100, 1000, 8191, 32_760, 60_000])
    func junk(count: Int) throws {
        let bytes = try map().bytes
        for junk in [noise(count), [UInt8](repeating: 0, count: count), [UInt8](repeating: 0x20, count: count)] {
            try expectSignal(in: junk + bytes)
        }
        try expectSignal(in: noise(count) + bytes, knowsLength: false)
    }

    @Test("Beginning with a frame", arguments: [["-b1000"], ["-b4608"], ["-b576", "-0"]])
    func frames(options: [String]) throws {
        let map = try FrameMap(try signal.flac(options))
        let audio = Array(map.bytes[map.offsets[0]...])
        try expectSignal(in: audio)
        try expectSignal(in: noise(2000) + audio)
    }

    @Test("Cut in front, it plays from the first whole frame on", arguments: [1, 7, 20])
    func cut(block: Int) throws {
        let map = try map()
        try expectSignal(in: Array(map.bytes[map.offsets[block]...]), from: block * 1000)
        try expectSignal(in: Array(map.bytes[(map.offsets[block] - 100)...]), from: block * 1000)
    }

    @Test("STREAMINFO missing, behind other blocks, or without a sample rate")
    func streamInfo() throws {
        let map = try map(["-T", "TITLE=Title", "--no-seektable"])
        let info = Array(map.bytes[4..<42])
        let comments = Array(map.bytes[42..<map.offsets[0]])
        #expect(comments[0] == 0x84)
        let audio = Array(map.bytes[map.offsets[0]...])
        let missing = FLACHeader.marker + comments + audio
        try expectSignal(in: missing)
        #expect(try AudioFile.open(MemorySource(missing)).metadata.title == "Title")
        let late = FLACHeader.marker + [0x04] + comments[1...] + [0x80] + info[1...] + audio
        try expectSignal(in: late)
        #expect(try AudioFile.open(MemorySource(late)).properties.frameCount == 30_500)
        var withoutRate = map.bytes
        for (index, mask) in [(18, 0x00), (19, 0x00), (20, 0x0F)] { withoutRate[index] &= UInt8(mask) }
        try expectSignal(in: withoutRate)
    }

    @Test(
        "A wrong block size in the header changes nothing",
        arguments: [(16, 16), (16, 1000), (1000, 4096), (4096, 4096), (999, 999), (65_535, 65_535), (1000, 16), (0, 0)])
    func blockSizes(smallest: Int, largest: Int) throws {
        for options in [["-S0.1s"], ["--no-seektable"]] {
            var bytes = try map(options).bytes
            bytes.replaceSubrange(8..<12, with: Chunks.big(smallest, 2) + Chunks.big(largest, 2))
            try expectSignal(in: bytes)
        }
    }

    @Test("A file of one short block keeps its header unchanged")
    func oneBlock() throws {
        let short = Signal(frames: 700)
        let source = MemorySource(try short.flac(["-b4096"]))
        let header = try FLACHeader(source, at: 0)
        #expect(header.streamInfo.raw == Array(source.bytes[8..<42]))
        #expect(try difference(AudioFile.open(source).decodeAll().samples, short.samples) == nil)
    }

    @Test("Bytes that only look like a frame are not audio, and are not read to their end")
    func noFLAC() throws {
        let source = SparseSource(noise(400_000), length: 3_000_000_000)
        #expect(throws: MediaError.notAudio(looksLike: nil)) { try AudioFile.open(source) }
        #expect(source.readCount < 20)
        // A good frame header, and no frame after it.
        let map = try map()
        let header = Array(map.bytes[map.offsets[3]..<(map.offsets[3] + 8)])
        #expect(FLACFrameHeader(header[...]) != nil)
        #expect(throws: MediaError.notAudio(looksLike: nil)) {
            try AudioFile.open(MemorySource(header + noise(30_000)))
        }
    }

    @Test("A header with megabytes of zeros behind it costs few reads", arguments: [true, false])
    func zeros(isWhole: Bool) throws {
        let header = FLACHeader.marker + (isWhole ? Array(try map().bytes[4..<42]) : [])
        let source = SparseSource(header, length: 64_000_000)
        let decoder = try? AudioFile.open(source)
        #expect((decoder != nil) == isWhole)
        #expect(source.readCount < 100)
    }

    @Test("Frame headers are parsed as libFLAC numbers them")
    func frameHeaders() throws {
        for (rate, depth, channels) in [
            (44_100, 16, 2), (192_000, 24, 1), (8000, 8, 8), (11_025, 16, 2), (37_000, 12, 3), (48_000, 20, 6),
            (655_350, 32, 2),
        ] {
            let signal = Signal(frames: 5000, rate: rate, channels: channels, depth: depth)
            let map = try FrameMap(try signal.flac(["-b192", "--no-padding"]))
            for index in [0, 1, 25] {
                let bytes = map.bytes[map.offsets[index]...]
                let frame = try #require(FLACFrameHeader(bytes))
                #expect(frame.number == Int64(index) && !frame.hasVariableSize)
                #expect(frame.blockSize == (index < 26 ? 192 : 8) && frame.channelCount == channels)
                #expect((frame.sampleRate ?? rate) == rate && (frame.bitDepth ?? depth) == depth)
                var damaged = Array(bytes.prefix(16))
                damaged[4] ^= 1
                #expect(FLACFrameHeader(damaged[...]) == nil)
            }
        }
    }

    @Test("A header that claims next to no length has no bit rate that traps on 32 bits")
    func bitRate() throws {
        var bytes = try signal.flac(["--no-padding"])
        bytes.replaceSubrange(22..<26, with: Chunks.big(1, 4))
        #expect(try AudioFile.open(MemorySource(bytes)).properties.bitRate == nil)
    }
}
