import PCM
import Testing

@testable import Media

@Suite(
    "Ogg: chains, several streams, and headers as they occur", Tool.needsVorbisTools, Tool.needsOpusTools,
    Tool.needsFLAC, Tool.needsFFmpeg)
struct OggChainTests {
    private static let signal = Signal.music(frames: 100_001)
    private static func opus(_ options: [String] = []) throws -> OggMap {
        OggMap(try signal.opusenc(["--bitrate", "96"] + options))
    }

    @Test("Each link of a chain plays whole, in its format, with its tags")
    func chain() throws {
        let files = [
            try Signal.music(frames: 50_001, rate: 44_100).oggenc(["-t", "One", "-s", "1"]),
            try Signal.music(frames: 40_003, rate: 32_000, channels: 1, seed: 2).oggenc(["-t", "Two", "-s", "2"]),
            try Signal.music(frames: 30_001, seed: 3).opusenc(["--title", "Three"]),
            try Signal(frames: 20_001, depth: 24).flac(["--ogg", "-T", "TITLE=Four"]),
            try Signal.music(frames: 60_001, seed: 4).opusenc(["--title", "Five"]),
        ]
        let parts = try files.map { try decode($0).decoded.samples }
        let rates = [44_100, 32_000, 48_000, 44_100, 48_000]
        let counts = [50_001, 40_003, 30_001, 20_001, 60_001]
        // The starts in frames of the first link's rate.
        var starts: [Int64] = [0]
        for (count, rate) in zip(counts, rates) {
            starts.append(starts[starts.count - 1] + Int64(count * 44_100 / rate))
        }
        for knowsLength in [true, false] {
            let decoder = try AudioFile.open(MemorySource(files.flatMap { $0 }, knowsLength: knowsLength))
            #expect(decoder.properties.frameCount == (knowsLength ? starts[5] : nil))
            #expect(decoder.metadata.title == "One")
            let decoded = decoder.decodeAll()
            #expect(decoded.parts.map(\.format.sampleRate) == rates)
            #expect(decoded.parts.map(\.format.channelCount) == [2, 1, 2, 2, 2])
            for (part, expected) in zip(decoded.parts, parts) { #expect(difference(part.samples, expected) == nil) }
            #expect(decoder.metadata.title == "Five" && decoder.damage.isEmpty)
        }
        for (link, frame) in [(4, 50_000), (1, 0), (0, 49_000), (2, 20_000), (3, 15_000), (0, 0)] {
            let decoder = try AudioFile.open(MemorySource(files.flatMap { $0 }))
            try decoder.seek(toFrame: starts[link] + Int64(frame * 44_100 / rates[link]) + (frame > 0 ? 1 : 0))
            let decoded = decoder.decodeAll().parts
            #expect(decoded.count == 5 - link, "link \(link)")
            let samples = try #require(decoded.first?.samples)
            let lacking = parts[link].count - samples.count
            // The first frame at the time of the seek, or one later.
            let channels = parts[link].count / counts[link]
            #expect(lacking >= frame * channels && lacking <= (frame + 3) * channels, "link \(link)")
            #expect(difference(samples, Array(parts[link].suffix(samples.count))) == nil, "link \(link)")
        }
    }

    @Test("A chain of many links of one format is one run of samples, and every seek in it is exact")
    func manyLinks() throws {
        let parts = try (1...40).map { try Signal.music(frames: 3001, seed: $0).oggenc(["-q", "1", "-s", "\($0)"]) }
        let samples = try parts.flatMap { try decode($0).decoded.samples }
        let decoder = try AudioFile.open(MemorySource(parts.flatMap { $0 }))
        // More links than are searched to know the length.
        #expect(decoder.properties.frameCount == nil)
        for frame in [119_000, 50_000, 3001, 3000, 90_000, 119_999, 120_039, 120_040, 0] {
            try decoder.seek(toFrame: Int64(frame))
            let expected = Array(samples[(2 * frame)...].prefix(8000))
            #expect(try difference(decoder.decode(frames: 4000), expected) == nil, "frame \(frame)")
        }
        try decoder.seek(toFrame: 0)
        #expect(difference(decoder.decodeAll().samples, samples) == nil && decoder.damage.isEmpty)
    }

    @Test("A link of another kind is passed over")
    func unusableLink() throws {
        let one = try Self.opus().bytes
        let speex = OggMap.Page(packet: Array("Speex   1.2".utf8) + [UInt8](repeating: 0, count: 69), flags: 2)
        let more = OggMap.Page(packet: [1, 2, 3], flags: 4, granule: 100, sequence: 1)
        let samples = try decode(one).decoded.samples
        let (decoded, damage) = try decode(one + speex.bytes + more.bytes + one)
        #expect(difference(decoded.samples, samples + samples) == nil && damage.isEmpty)
        #expect(throws: MediaError.unsupported(what: "Ogg with Speex")) {
            try AudioFile.open(MemorySource(speex.bytes + more.bytes))
        }
    }

    @Test("Of several streams the first one with audio plays")
    func severalStreams() throws {
        let files: [[UInt8]] = try withTemporaryFolder { folder in
            try Files.write(Self.signal.extensibleWAV, "one.wav", folder)
            try Files.write(Signal(frames: 100_001, rate: 48_000, seed: 5).extensibleWAV, "two.wav", folder)
            let inputs = ["-loglevel", "error", "-y", "-i", "one.wav", "-i", "two.wav"]
            try Tool.ffmpeg.run(
                inputs + ["-map", "0", "-map", "1", "-c:a", "libvorbis", "-q:a", "3", "two.ogg"], in: folder)
            try Tool.ffmpeg.run(
                [
                    "-loglevel", "error", "-y", "-f", "lavfi", "-i", "testsrc=size=160x120:rate=25:duration=2.1", "-i",
                    "one.wav", "-c:v", "libtheora", "-c:a", "libopus", "video.ogg",
                ], in: folder)
            return [try Files.read("two.ogg", folder), try Files.read("video.ogg", folder)]
        }
        for (number, file) in files.enumerated() {
            let decoder = try AudioFile.open(MemorySource(file))
            #expect(decoder.properties.codec == (number == 0 ? .vorbis : .opus))
            #expect(decoder.properties.frameCount == 100_001)
            let samples = decoder.decodeAll().samples
            #expect(samples.count == 200_002 && decoder.damage.isEmpty)
            // Nothing is lost between the streams' pages: it is the first signal.
            let errors = zip(samples, Self.signal.samples).map { abs(Int64($0) - Int64($1)) }
            #expect(errors.reduce(0, +) / 200_002 < 40_000_000)
            for frame in [90_000, 20, 50_001] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(2 * frame)...].prefix(4000))
                #expect(try difference(decoder.decode(frames: 2000), expected) == nil, "frame \(frame)")
            }
        }
    }

    @Test("A stream that was cut out of a longer one begins at its beginning")
    func cutFromALongerOne() throws {
        var map = try Self.opus()
        let plain = try decode(map.bytes).decoded.samples
        for page in map.firstAudio..<map.pages.count { map.pages[page].granule += 48_000 * 3600 * 5 }
        var decoder = try AudioFile.open(MemorySource(map.bytes))
        #expect(decoder.properties.frameCount == 100_001)
        #expect(difference(decoder.decodeAll().samples, plain) == nil)
        // Headers, then pages from the middle on, as a station sends them.
        map.pages.removeSubrange(map.firstAudio...map.firstAudio)
        decoder = try AudioFile.open(MemorySource(map.bytes))
        let samples = decoder.decodeAll().samples
        #expect(samples.count > 50_000 && samples.count == 2 * Int(decoder.properties.frameCount ?? 0))
        #expect(decoder.damage.isEmpty)
        try decoder.seek(toFrame: 20_000)
        #expect(try difference(decoder.decode(frames: 1000), Array(samples[40_000..<42_000])) == nil)
    }

    @Test("Granule positions that begin too low cost no samples of Opus, and cut the beginning of Vorbis")
    func lowGranules() throws {
        var map = try Self.opus()
        let plain = try decode(map.bytes).decoded.samples
        for page in map.firstAudio..<map.pages.count { map.pages[page].granule -= 960 }
        let (decoded, damage) = try decode(map.bytes)
        #expect(difference(decoded.samples, plain) == nil && damage.isEmpty)
        map = OggMap(try Self.signal.oggenc())
        let vorbis = try decode(map.bytes).decoded.samples
        for page in map.firstAudio..<map.pages.count { map.pages[page].granule -= 1001 }
        let decoder = try AudioFile.open(MemorySource(map.bytes))
        #expect(decoder.properties.frameCount == 99_000)
        #expect(difference(decoder.decodeAll().samples, Array(vorbis[2002...])) == nil)
        try decoder.seek(toFrame: 0)
        #expect(try difference(decoder.decode(frames: 100), Array(vorbis[2002..<2202])) == nil)
    }

    @Test("The last page cuts more than one packet of Opus")
    func longEndTrim() throws {
        var map = try Self.opus()
        let plain = try decode(map.bytes).decoded.samples
        let last = map.pages.count - 1
        let before = map.pages[last].granule
        map.pages[last].granule -= 3001
        #expect(map.pages[last - 1].granule < before - 3001)
        let decoder = try AudioFile.open(MemorySource(map.bytes))
        #expect(decoder.properties.frameCount == 97_000)
        #expect(difference(decoder.decodeAll().samples, Array(plain[..<194_000])) == nil && decoder.damage.isEmpty)
    }

    @Test("The output gain of Opus is applied")
    func gain() throws {
        var map = try Self.opus()
        let plain = try decode(map.bytes).decoded.samples
        // -6.0206 dB
        let start = map.pages[0].bodyStart
        map.pages[0].bytes.replaceSubrange((start + 16)..<(start + 18), with: [0xFB, 0xF9])
        map.pages[0].seal()
        let halved = try decode(map.bytes).decoded.samples
        #expect(difference(halved, try OggReference.opus(map.bytes)) == nil)
        #expect(AACReference.difference(halved, plain.map { $0 / 2 }, step: 1 << 20) == nil)
    }

    @Test("Headers that cannot be played are named")
    func refusals() throws {
        func opened(_ change: (inout [UInt8]) -> Void) throws -> MediaError? {
            var map = try Self.opus()
            var packet = Array(map.pages[0].bytes[map.pages[0].bodyStart...])
            change(&packet)
            map.pages[0] = OggMap.Page(packet: packet, flags: 2, serial: map.pages[0].serial)
            do throws(MediaError) { _ = try AudioFile.open(MemorySource(map.bytes)) } catch { return error }
            return nil
        }
        #expect(try opened { $0[8] = 16 } == .unsupported(what: "Opus of version 1"))
        #expect(try opened { $0[18] = 255 } == .unsupported(what: "Opus with the channel mapping family 255"))
        #expect(try opened { $0[9] = 3 } == .damaged(what: "Opus with a header that is not valid"))
        #expect(try opened { $0[0] = 0 } == .unsupported(what: "Ogg with a stream of an unknown kind"))
        let map = OggMap(try Self.signal.oggenc())
        #expect(throws: MediaError.damaged(what: "Ogg Vorbis without its headers")) {
            try AudioFile.open(MemorySource(map.pages[0].bytes))
        }
        #expect(throws: MediaError.damaged(what: "Ogg without the beginning of a stream")) {
            try AudioFile.open(MemorySource(map.pages[2].bytes))
        }
    }

    @Test("Of a long file little is read, to open it and for each seek")
    func longFile() throws {
        let map = try Self.opus()
        let body = map.pages[map.firstAudio..<(map.pages.count - 1)]
        let frames = map.pages[map.pages.count - 2].granule
        var bytes = map.pages[..<map.firstAudio].flatMap(\.bytes)
        var sequence = UInt32(map.firstAudio)
        let repetitions: Int64 = 100
        for number in 0..<repetitions {
            for var page in body {
                page.granule += number * frames
                page.sequence = sequence
                sequence += 1
                bytes += page.bytes
            }
        }
        let source = MemorySource(bytes)
        let decoder = try AudioFile.open(source)
        #expect(decoder.properties.frameCount == repetitions * frames - 312)
        #expect(source.bytesRead < 250_000)
        for share in [0.9, 0.1, 0.5, 0.999] {
            let before = source.bytesRead
            try decoder.seek(toFrame: Int64(Double(repetitions * frames) * share))
            #expect(source.bytesRead - before < 250_000, "\(share)")
        }
    }
}
