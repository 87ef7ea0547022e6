import PCM
import Testing

@testable import Media

@Suite("Damaged and joined MP3, and bytes that are not there yet", Tool.needsLAME)
struct MP3DamageTests {
    @Test("A damaged first frame of sound behind the header of LAME: its delay is dropped", arguments: [1, 2])
    func firstFrame(count: Int) throws {
        let signal = Signal(frames: 60_000).varied
        for options in [["-b", "128"], ["-V", "4"]] {
            let bytes = try signal.lame(options)
            let plain = try decode(bytes).decoded.samples
            let map = try MP3Map(bytes)
            var damaged = bytes
            for frame in 1...count {
                for place in map.offsets[frame]..<(map.offsets[frame] + 40) { damaged[place] = 0 }
            }
            let decoder = try AudioFile.open(MemorySource(damaged))
            #expect(decoder.properties.frameCount == 60_000)
            let samples = decoder.decodeAll().samples
            #expect(samples.count == plain.count, "\(options)")
            // The frames after it may need its main data.
            let rest = 2 * 1152 * (count + 12)
            #expect(difference(Array(samples.dropFirst(rest)), Array(plain.dropFirst(rest))) == nil, "\(options)")
            #expect(decoder.damage.incidents > 0)
        }
    }

    @Test("Headers without sound are followed 16 times at most: a file of them costs little")
    func manyInfos() throws {
        let bytes = try Signal(frames: 60_000).lame(["-b", "128"])
        let map = try MP3Map(bytes)
        let info = Array(bytes[..<map.offsets[1]])
        func cost(_ count: Int) throws -> Int {
            // Noise between them, so that no frames follow any of them.
            let source = MemorySource((0..<count).flatMap { _ in info + [UInt8](repeating: 0x55, count: 300) })
            _ = try? AudioFile.open(source)
            return source.bytesRead
        }
        let (few, many) = (try cost(16), try cost(320))
        #expect(many < few + 400_000, "\(few) and \(many) bytes")
    }

    @Test("CBR that is cut between frames is said to be cut, and has the length that it plays", arguments: 1...13)
    func cutBetweenFrames(missing: Int) throws {
        let bytes = try Signal(frames: 60_000).lame(["-b", "128"])
        let map = try MP3Map(bytes)
        let cut = Array(bytes.prefix(map.offsets[map.offsets.count - 1 - missing]))
        let decoder = try AudioFile.open(MemorySource(cut))
        let samples = decoder.decodeAll().samples
        #expect(decoder.damage.truncated)
        #expect(decoder.properties.frameCount == Int64(samples.count / 2))
    }

    private static let signal = Signal(frames: 100_000, seed: 6).varied
    private static func map(_ options: [String] = ["-b", "128"]) throws -> MP3Map { try MP3Map(signal.lame(options)) }

    /// Where the first frame that is not in the header's count of added ones is, in frames.
    private static let lead = 576 + 529

    @Test(
        "A damaged header costs one frame of MPEG, in silence, and the rest plays at its place", arguments: [0, 1, 2])
    func damagedHeader(place: Int) throws {
        let map = try Self.map()
        let plain = try decode(map.bytes).decoded.samples
        var bytes = map.bytes
        // The sync, the layer, or the bit rate of frame 40.
        bytes[map.offsets[41] + place] ^= [0x80, 0x06, 0x20][place]
        let (decoded, damage) = try decode(bytes)
        let samples = decoded.samples
        #expect(samples.count == plain.count)
        #expect(damage.incidents == 1 && damage.silencedFrames == 1152 && !damage.truncated)
        let (start, end) = (2 * (40 * 1152 - Self.lead), 2 * (41 * 1152 - Self.lead))
        #expect(difference(Array(samples[..<start]), Array(plain[..<start])) == nil)
        #expect(samples[start..<end].allSatisfy { $0 == 0 })
        // The decoder restarts: its filters and its main data take some frames.
        let rest = end + 2 * 10 * 1152
        #expect(AACReference.difference(Array(samples[rest...]), Array(plain[rest...]), step: 256) == nil)
    }

    @Test("Damaged sound plays on, and every seek behind it gives what the whole decode gives")
    func flippedBits() throws {
        let map = try Self.map(["-V", "4"])
        var generator = SeededGenerator(seed: 1)
        for round in 0..<20 {
            var bytes = map.bytes
            for _ in 0...(round % 4) {
                let place = Int.random(in: map.offsets[1]..<bytes.count, using: &generator)
                switch round % 3 {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1:
                    let end = min(bytes.count, place + 3000)
                    for index in place..<end { bytes[index] = 0 }
                default: bytes.removeSubrange(place..<min(bytes.count, place + 700))
                }
            }
            let whole = try decode(bytes).decoded.samples
            #expect(whole.count > 150_000, "round \(round)")
            let decoder = try AudioFile.open(MemorySource(bytes))
            for frame in [90_000, 70_001, 50_000, 20_000, 95_000] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[min(2 * frame, whole.count)...].prefix(4000))
                let found = try decoder.decode(frames: 2000)
                #expect(difference(found, expected) == nil, "round \(round), frame \(frame)")
            }
        }
    }

    @Test("A hole of zeros is as long as what is missing, up to a second")
    func hole() throws {
        let map = try Self.map()
        let plain = try decode(map.bytes).decoded.samples
        var bytes = map.bytes
        for index in map.offsets[21]..<map.offsets[41] { bytes[index] = 0 }
        let (decoded, damage) = try decode(bytes)
        #expect(decoded.samples.count == plain.count)
        #expect(damage.incidents == 1 && damage.silencedFrames == 20 * 1152)
        let end = 2 * (50 * 1152)
        #expect(AACReference.difference(Array(decoded.samples[end...]), Array(plain[end...]), step: 256) == nil)
        let long = Array(bytes[..<map.offsets[41]]) + [UInt8](repeating: 0, count: 300_000) + bytes[map.offsets[41]...]
        let other = try decode(long)
        #expect(other.damage.incidents == 1 && other.damage.silencedFrames == 38 * 1152)
    }

    @Test("Files that were joined play one after the other, with tags between them or without", arguments: [0, 1, 2])
    func joined(kind: Int) throws {
        let one = try Self.map(["-V", "4"])
        let two = try MP3Map(try Signal(frames: 50_000, seed: 8).lame(["-b", "160"]))
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 100] + [UInt8](repeating: 0, count: 100)
        let between: [UInt8] =
            switch kind {
            case 0: []
            case 1: Array("TAG".utf8) + [UInt8](repeating: 0, count: 125)
            default: Array("TAG".utf8) + [UInt8](repeating: 0, count: 125) + tag
            }
        let decoder = try AudioFile.open(MemorySource(one.bytes + between + two.bytes))
        // The header of the first one no longer gives the end of the music, and that of the second one is not heard.
        let frames = (one.count + two.count) * 1152 - Self.lead
        #expect(decoder.properties.frameCount == Int64(frames))
        let samples = decoder.decodeAll().samples
        #expect(samples.count == 2 * frames && decoder.damage.isEmpty)
        let first = try decode(one.bytes).decoded.samples
        #expect(difference(Array(samples[..<first.count]), first) == nil)
        try decoder.seek(toFrame: Int64(frames - 30_000))
        #expect(
            try difference(decoder.decode(frames: 5000), Array(samples[(2 * (frames - 30_000))...].prefix(10_000)))
                == nil)
    }

    @Test("Joined files of other rates or channels change the format")
    func joinedFormats() throws {
        let one = try Self.map()
        let two = try MP3Map(try Signal(frames: 50_000, rate: 32_000, channels: 1, seed: 8).lame(["-b", "64"]))
        let decoder = try AudioFile.open(MemorySource(one.bytes + two.bytes))
        let parts = decoder.decodeAll().parts
        #expect(parts.map(\.format.sampleRate) == [44_100, 32_000] && parts.map(\.format.channelCount) == [2, 1])
        #expect(parts.last?.samples.count == two.count * 1152)
        #expect(decoder.damage.isEmpty)
    }

    @Test("At every k-th read, and in small pieces: the same tags, samples and seeks", arguments: [2, 5])
    func notYet(k: Int) throws {
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 12] + Array("TIT2".utf8) + [0, 0, 0, 2, 0, 0, 0, 0x61]
        for options in [["-b", "128"], ["-V", "4"], ["-V", "4", "-t"], ["-b", "400", "--freeformat"]] {
            let bytes = tag + (try Self.signal.lame(options))
            let plain = try AudioFile.open(MemorySource(bytes))
            let samples = plain.decodeAll().samples
            for largestRead in [Int.max, 700] {
                let source = MemorySource(bytes)
                source.notYetEvery = k
                source.largestRead = largestRead
                let decoder = try AudioFile.open(source)
                #expect(decoder.metadata == plain.metadata && decoder.properties == plain.properties)
                #expect(difference(decoder.decodeAll().samples, samples) == nil)
                for frame in [80_000, 3, 60_001] {
                    try decoder.seek(toFrame: Int64(frame))
                    let expected = Array(samples[(2 * frame)...].prefix(2000))
                    #expect(try difference(decoder.decode(frames: 1000), expected) == nil)
                }
                #expect(source.notYetCount > 0 && decoder.damage.isEmpty)
            }
        }
    }

    @Test("A download that grows is opened with its first bytes, and played up to its end", arguments: ["-V", "-b"])
    func growing(option: String) throws {
        let bytes = try Self.signal.lame([option, option == "-V" ? "4" : "128"])
        let samples = try decode(bytes).decoded.samples
        let source = StreamedMemory(bytes)
        let opening = AudioOpening(source)
        var opened: (any AudioDecoder)?
        while opened == nil {
            opened = try opening.attempt()
            if opened == nil { source.memory.available += 100 }
        }
        let decoder = try #require(opened)
        #expect(source.memory.available < 12_000)
        #expect(decoder.properties.frameCount == 100_000)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 8192)
        defer { buffer.deallocate() }
        var found: [Int32] = []
        reading: while true {
            switch try decoder.read(into: buffer) {
            case .frames(let count): found += buffer[..<(count * 2)]
            case .format: Issue.record("another format")
            case .notYet: source.memory.available += 5000
            case .end: break reading
            }
        }
        #expect(difference(found, samples) == nil)
        #expect(decoder.damage.isEmpty)
        // No other part of the file was read.
        #expect(source.memory.bytesRead < bytes.count + 40_000)
    }
}

/// Bytes that come over a network.
private final class StreamedMemory: ByteSource {
    let memory: MemorySource

    init(_ bytes: [UInt8]) {
        memory = MemorySource(bytes)
        memory.available = 0
    }

    var length: Int64? { memory.length }
    var isStreamed: Bool { true }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        try memory.read(into: buffer, at: offset)
    }
}
