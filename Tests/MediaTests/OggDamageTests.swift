import PCM
import Testing

@testable import Media

@Suite("Ogg: damaged, cut and hidden streams", Tool.needsVorbisTools, Tool.needsOpusTools, Tool.needsFLAC)
struct OggDamageTests {
    typealias Kind = OggTests.Kind
    private static let signal = Signal.music(frames: 200_001)
    private static func map(_ kind: Kind) throws -> OggMap { OggMap(try kind.file(signal)) }

    /// Frames after a gap until a restarted decoder gives the same samples as an undisturbed one.
    private static func settling(_ kind: Kind) -> Int {
        switch kind {
        case .vorbis: 0
        case .opus, .speech: 61_440
        case .flac: 0
        }
    }

    @Test("A damaged page costs its packets, in silence, and the rest plays at its place", arguments: Kind.allCases)
    func damagedPage(kind: Kind) throws {
        let map = try Self.map(kind)
        let plain = try decode(map.bytes).decoded.samples
        let page = (map.firstAudio + map.pages.count) / 3
        for damage in 0..<4 {
            var bytes = map.bytes
            let start = map.offset(of: page)
            let end = map.offset(of: page + 1)
            switch damage {
            case 0: bytes[start] ^= 1
            case 1: bytes[(start + end) / 2] ^= 0x10
            case 2: bytes.removeSubrange(start..<end)
            default: bytes.replaceSubrange(start..<end, with: [UInt8](repeating: 0, count: 5000))
            }
            let decoder = try AudioFile.open(MemorySource(bytes))
            #expect(decoder.properties.frameCount == 200_001)
            let samples = decoder.decodeAll().samples
            #expect(samples.count == plain.count)
            #expect(decoder.damage.incidents == 1 && !decoder.damage.truncated, "\(damage)")
            #expect(decoder.damage.silencedFrames > 0)
            let first = zip(samples, plain).enumerated().first { $0.element.0 != $0.element.1 }?.offset ?? 0
            let silence = first / 2 + Int(decoder.damage.silencedFrames)
            let rest = 2 * (silence + Self.settling(kind)) + 4
            #expect(rest < plain.count, "the file is too short for this test")
            #expect(difference(Array(samples[rest...]), Array(plain[rest...])) == nil, "\(damage)")
            for frame in [first / 2 - 100, first / 2 + 10, silence + 10, silence + 20_000, 199_000] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(samples[(2 * frame)...].prefix(4000))
                #expect(try difference(decoder.decode(frames: 2000), expected) == nil, "\(damage), frame \(frame)")
            }
        }
    }

    @Test("Bytes between pages cost nothing", arguments: Kind.allCases)
    func junkBetweenPages(kind: Kind) throws {
        let map = try Self.map(kind)
        let plain = try decode(map.bytes).decoded.samples
        let junk = Array("OggS".utf8) + [UInt8](repeating: 0x4F, count: 3000) + Array("Ogg".utf8)
        var bytes: [UInt8] = []
        for (number, page) in map.pages.enumerated() {
            bytes += page.bytes
            if number >= map.firstAudio { bytes += junk }
        }
        let (decoded, damage) = try decode(bytes)
        #expect(difference(decoded.samples, plain) == nil)
        #expect(damage.isEmpty)
    }

    @Test("A file that is cut plays to the cut, and says so", arguments: Kind.allCases)
    func cut(kind: Kind) throws {
        let map = try Self.map(kind)
        let plain = try decode(map.bytes).decoded.samples
        let page = map.pages.count * 2 / 3
        for bytes in [
            Array(map.bytes.prefix(map.offset(of: page))), Array(map.bytes.prefix(map.offset(of: page) + 100)),
            Array(map.bytes.prefix(map.offset(of: page) + 10)),
        ] {
            let decoder = try AudioFile.open(MemorySource(bytes))
            let samples = decoder.decodeAll().samples
            #expect(samples.count > plain.count / 3 && samples.count == 2 * Int(decoder.properties.frameCount ?? 0))
            #expect(difference(samples, Array(plain.prefix(samples.count))) == nil)
            #expect(decoder.damage.truncated && decoder.damage.incidents == 0)
        }
    }

    @Test("A tag or other bytes in front hide nothing", arguments: Kind.allCases)
    func front(kind: Kind) throws {
        let bytes = try kind.file(Signal.music(frames: 20_001))
        let plain = try decode(bytes).decoded.samples
        let title = Array("TIT2".utf8) + [0, 0, 0, 3, 0, 0, 0, 0x61, 0x62]
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, UInt8(title.count)] + title
        var generator = SeededGenerator(seed: 4)
        let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for (front, hasTitle) in [(tag, true), (noise, false), (tag + noise, true), (Array("hello\n".utf8), false)] {
            let decoder = try AudioFile.open(MemorySource(front + bytes))
            #expect(decoder.properties.container == .ogg && decoder.properties.frameCount == 20_001)
            #expect(decoder.metadata.title == (hasTitle ? "ab" : nil))
            #expect(difference(decoder.decodeAll().samples, plain) == nil && decoder.damage.isEmpty)
            try decoder.seek(toFrame: 10_000)
            #expect(try difference(decoder.decode(frames: 100), Array(plain[20_000..<20_200])) == nil)
        }
    }

    @Test("Flipped bits and lost bytes: every seek gives what the whole decode gives", arguments: Kind.allCases)
    func spliced(kind: Kind) throws {
        let map = try Self.map(kind)
        let bytes = map.bytes
        let audio = map.offset(of: map.firstAudio)
        var generator = SeededGenerator(seed: 1)
        for round in 0..<6 {
            var broken = bytes
            for _ in 0...(round % 3) {
                let place = Int.random(in: audio..<broken.count, using: &generator)
                switch round % 3 {
                case 0: broken[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1:
                    let end = min(broken.count, place + 3000)
                    for index in place..<end { broken[index] = 0 }
                default: broken.removeSubrange(place..<min(broken.count, place + 700))
                }
            }
            let decoder = try AudioFile.open(MemorySource(broken))
            let whole = decoder.decodeAll().samples
            for frame in [150_000, 100_001, 20_000, 180_000] {
                try decoder.seek(toFrame: Int64(frame))
                let expected = Array(whole[min(2 * frame, whole.count)...].prefix(2000))
                let found = try decoder.decode(frames: 1000)
                #expect(difference(found, expected) == nil, "round \(round), frame \(frame)")
            }
        }
    }

    @Test("Pages whose content is broken, but not their checksums, neither crash nor hang")
    func sealedPages() throws {
        let signal = Signal.music(frames: 3000)
        let maps = try Kind.allCases.map { OggMap(try $0.file(signal)) }
        var generator = SeededGenerator(seed: 2026)
        var framesRead = 0
        for round in 0..<400 {
            var map = maps[round % maps.count]
            if round % 5 == 0 { map.pages += maps[(round / 5) % maps.count].pages }
            for _ in 0...(round % 3) {
                let number = Int.random(in: 0..<map.pages.count, using: &generator)
                var page = map.pages[number]
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: page.flags = .random(in: 0..<8, using: &generator)
                case 1: page.granule = .random(in: -2...200_000, using: &generator)
                case 2: page.sequence = .random(in: 0..<9, using: &generator)
                case 3: page.serial = map.pages[0].serial
                default:
                    let end = max(page.bodyStart + 1, page.bytes.count)
                    let place = Int.random(in: page.bodyStart..<end, using: &generator)
                    if place < page.bytes.count { page.bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
                    page.seal()
                }
                map.pages[number] = page
            }
            var exercise = DecoderExercise(frameLimit: 4000)
            exercise.run(map.bytes, knowsLength: round % 3 != 0, notYetEvery: round % 7 == 0 ? 3 : 0)
            framesRead += exercise.framesRead
        }
        #expect(framesRead > 400_000)
    }
}
