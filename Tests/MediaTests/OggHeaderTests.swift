import PCM
import TestSupport
import Testing

@testable import Media

@Suite("Ogg: other bytes and wrong flags between headers", Tool.needsVorbisTools, Tool.needsOpusTools, Tool.needsFLAC)
struct OggHeaderTests {
    enum Kind: CaseIterable, Sendable {
        case vorbis, opus, flac

        /// A file with a title, and with a picture whose comment or block takes several pages.
        func file() throws -> [UInt8] {
            try OggHeaderTests.files.value("\(self)") {
                let signal = Signal.music(frames: 50_001)
                return try withTemporaryFolder { folder in
                    try Files.write(signal.extensibleWAV, "input.wav", folder)
                    try Files.write(OggHeaderTests.cover, "cover.jpg", folder)
                    switch self {
                    case .vorbis:
                        try Files.write(Array(OggHeaderTests.long.utf8), "lyrics", folder)
                        try Tool.oggenc.run(
                            [
                                "--quiet", "-t", "Title", "-c", "LYRICS=" + OggHeaderTests.long, "-o", "out",
                                "input.wav",
                            ],
                            in: folder)
                    case .opus:
                        try Tool.opusenc.run(
                            ["--quiet", "--title", "Title", "--picture", "||||cover.jpg", "input.wav", "out"],
                            in: folder)
                    case .flac:
                        try Tool.flac.run(
                            [
                                "-s", "--ogg", "-T", "TITLE=Title", "--picture", "3|image/jpeg||2x2x24|cover.jpg", "-o",
                                "out", "input.wav",
                            ],
                            in: folder)
                    }
                    return try Files.read("out", folder)
                }
            }
        }
    }

    private static let files = MadeOnce<[UInt8]>()
    private static let cover = Covers.jpeg(150_000)
    private static let long = String(repeating: "la ", count: 30_000)

    private func expect(_ bytes: [UInt8], _ kind: Kind, _ comment: Comment) throws {
        let plain = try decode(kind.file()).decoded.samples
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.metadata.title == "Title", comment)
        #expect(difference(decoder.decodeAll().samples, plain) == nil, comment)
        if kind != .vorbis {
            #expect(decoder.metadata.picture?.bytes(in: bytes) == Self.cover, comment)
        }
        #expect(decoder.damage.isEmpty, comment)
    }

    @Test("Zeros, noise, markers and parts of pages between header pages cost nothing", arguments: Kind.allCases)
    func gaps(kind: Kind) throws {
        let map = OggMap(try kind.file())
        let first = map.firstAudio
        try #require(first > 2)
        var generator = SeededGenerator(seed: 4)
        let gaps: [[UInt8]] = [
            [UInt8](repeating: 0, count: 8), [UInt8](repeating: 0, count: 70_000),
            (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) },
            Array("OggS".utf8) + [0, 0, 1], Array(map.pages[1].bytes.dropLast().prefix(200)),
        ]
        for (number, gap) in gaps.enumerated() {
            for place in [1, 2, first - 1, first] {
                var bytes = map.bytes
                bytes.insert(contentsOf: gap, at: map.offset(of: place))
                try expect(bytes, kind, "gap \(number) before page \(place)")
            }
            let everywhere =
                map.pages.prefix(first).flatMap { $0.bytes + gap }
                + map.pages.suffix(from: first).flatMap(\.bytes)
            try expect(everywhere, kind, "gap \(number) everywhere")
        }
    }

    @Test("A flag that is missing, or too many, on a header page that has its number", arguments: Kind.allCases)
    func flags(kind: Kind) throws {
        let plain = OggMap(try kind.file())
        // Not begun, continued though it begins, and begins though it continues.
        for (page, flags) in [(0, 0), (1, 1), (1, 2), (2, 0), (2, 3)] as [(Int, UInt8)] {
            var map = plain
            map.pages[page].flags = flags
            try expect(map.bytes, kind, "flags \(flags) on page \(page)")
        }
    }

    @Test("The same flags where the last header is in the second page", arguments: Kind.allCases)
    func flagsOfSmallHeaders(kind: Kind) throws {
        let signal = Signal.music(frames: 20_001)
        let file =
            switch kind {
            case .vorbis: try signal.oggenc(["-t", "Title"])
            case .opus: try signal.opusenc(["--title", "Title"])
            case .flac: try signal.flac(["--ogg", "-T", "TITLE=Title"])
            }
        let plain = try decode(file).decoded.samples
        for (page, flags) in [(0, 0), (1, 1), (1, 2), (1, 3)] as [(Int, UInt8)] {
            var map = OggMap(file)
            map.pages[page].flags = flags
            let decoder = try AudioFile.open(MemorySource(map.bytes))
            #expect(decoder.metadata.title == "Title", "flags \(flags) on page \(page)")
            #expect(difference(decoder.decodeAll().samples, plain) == nil, "flags \(flags) on page \(page)")
            #expect(decoder.damage.isEmpty)
        }
    }

    @Test("Vorbis without its comments plays without tags; without its setup it is refused")
    func missing() throws {
        let plain = try decode(Kind.vorbis.file()).decoded.samples
        var map = OggMap(try Kind.vorbis.file())
        // The first page of the comments.
        map.pages.remove(at: 1)
        let decoder = try AudioFile.open(MemorySource(map.bytes))
        #expect(decoder.metadata.title == nil)
        #expect(difference(decoder.decodeAll().samples, plain) == nil)
        var headless = OggMap(try Kind.vorbis.file())
        headless.pages.removeSubrange(1..<headless.firstAudio)
        #expect(outcome(of: headless.bytes).error == .damaged(what: "Ogg Vorbis without its headers"))
    }

    @Test("At every k-th read: the same tags and samples", arguments: Kind.allCases)
    func notYet(kind: Kind) throws {
        let map = OggMap(try kind.file())
        var bytes = map.bytes
        bytes.insert(contentsOf: [UInt8](repeating: 0, count: 5000), at: map.offset(of: 2))
        let plain = try decode(kind.file()).decoded.samples
        let source = MemorySource(bytes)
        source.notYetEvery = 3
        let decoder = try AudioFile.open(source)
        #expect(decoder.metadata.title == "Title")
        #expect(difference(decoder.decodeAll().samples, plain) == nil)
    }

    @Test("The header of a full page that no page of its stream follows is not believed", arguments: Kind.allCases)
    func falseHeader(kind: Kind) throws {
        let map = OggMap(try kind.file())
        let inside = try #require(map.pages.indices.first { map.pages[$0].flags & 1 != 0 })
        var false0 = OggMap.Page(
            packet: [UInt8](repeating: 1, count: 255 * 254 + 1), flags: 1, granule: -1,
            serial: map.pages[inside].serial,
            sequence: map.pages[inside].sequence)
        false0.bytes[26 + 255] = 255
        for place in [inside, inside + 1] {
            var bytes = map.bytes
            bytes.insert(contentsOf: false0.bytes.prefix(27 + 255), at: map.offset(of: place))
            try expect(bytes, kind, "before page \(place)")
        }
    }
}
