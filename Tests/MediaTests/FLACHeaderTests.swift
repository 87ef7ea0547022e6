import Foundation
import Testing

@testable import Media

@Suite("FLAC: what stands before the audio", Tool.needsFLAC)
struct FLACHeaderTests {
    private static let shared = Signal(frames: 20_000)
    private var signal: Signal { Self.shared }

    /// The file with `blocks` inserted after STREAMINFO.
    private func file(inserting blocks: [UInt8]) throws -> [UInt8] {
        let bytes = try signal.flac(["-S0.1s"])
        return Array(bytes[..<42] + blocks + bytes[42...])
    }

    private func block(_ type: UInt8, _ content: [UInt8], size: Int? = nil) -> [UInt8] {
        [type] + Chunks.big(size ?? content.count, 3) + content
    }

    @Test("A picture of 16 MB is neither read nor held")
    func picture() throws {
        let bytes = try file(inserting: block(6, [UInt8](repeating: 0xFF, count: 16_000_000)))
        let source = MemorySource(bytes)
        let decoder = try AudioFile.open(source)
        #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
        try decoder.seek(toFrame: 15_000)
        #expect(try difference(decoder.decode(frames: 100), signal.slice(15_000..<15_100)) == nil)
        #expect(source.bytesRead < 3 * (bytes.count - 16_000_000))
        #expect(source.largestRequest <= 65_536)
    }

    @Test("Blocks of types that do not exist yet are skipped")
    func unknownBlock() throws {
        let (decoded, damage) = try decode(file(inserting: block(100, [1, 2, 3])))
        #expect(difference(decoded.samples, signal.samples) == nil)
        #expect(damage.isEmpty)
    }

    @Test("A block whose length lies does not hide the audio", arguments: [0, 10, 900, 1100, 40_000, 0xFFFFFF])
    func lyingLength(size: Int) throws {
        let (decoded, _) = try decode(file(inserting: block(6, [UInt8](repeating: 0xD8, count: 1000), size: size)))
        #expect(difference(decoded.samples, signal.samples) == nil)
    }

    @Test("ID3 tags in front, one or two, and their texts where FLAC has none", arguments: [1, 2])
    func id3(count: Int) throws {
        let frame = Array("TIT2".utf8) + [0, 0, 0, 6, 0, 0, 3] + Array("Title".utf8)
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 116] + frame + [UInt8](repeating: 0, count: 100)
        let bytes = [[UInt8]](repeating: tag, count: count).flatMap(\.self) + (try signal.flac(["-S0.1s"]))
        let decoder = try AudioFile.open(MemorySource(bytes))
        #expect(decoder.metadata.title == "Title")
        #expect(difference(decoder.decodeAll().samples, signal.samples) == nil)
    }

    @Test("Vorbis comments as the encoder writes them")
    func comments() throws {
        let decoder = try AudioFile.open(
            MemorySource(
                try signal.flac([
                    "-T", "title=Übung", "-T", "Artist=A", "-T", "ARTIST=B", "-T", "ALBUM=Album  ", "-T",
                    "TRACKNUMBER=3/12",
                    "-T", "DISCNUMBER=2", "-T", "REPLAYGAIN_TRACK_GAIN=-7.30 dB", "-T", "replaygain_track_peak=0.988",
                    "-T", "REPLAYGAIN_ALBUM_GAIN=+1,5 dB", "-T", "REPLAYGAIN_ALBUM_PEAK=nan",
                ])))
        var expected = TrackMetadata()
        expected.title = "Übung"
        expected[.artist] = ["A", "B"]
        expected.album = "Album"
        expected.trackNumber = 3
        expected.discNumber = 2
        expected[.trackTotal] = ["12"]
        expected.replayGain = .init(trackGain: -7.3, trackPeak: 0.988, albumGain: 1.5)
        #expect(decoder.metadata == expected)
    }

    @Test("The bit rate is that of the audio alone")
    func bitRate() throws {
        let plain = try AudioFile.open(MemorySource(try signal.flac(["--no-padding"]))).properties.bitRate
        let padded = try AudioFile.open(MemorySource(try signal.flac(["--padding=500000"]))).properties.bitRate
        #expect(plain == padded)
        #expect(200_000..<1_500_000 ~= plain ?? 0)
    }

    @Test("Comments after a wrong block size are searched at 16 places at most: a file of false ones costs little")
    func manyGuesses() throws {
        let bytes = try Signal(frames: 3000).flac(["--no-padding", "-T", "TITLE=A"])
        func cost(_ count: Int) throws -> Int {
            // Each looks like a block of comments: a vendor up to the end of all, and then thousands of comments.
            var guesses: [UInt8] = []
            for number in 0..<count {
                let vendor = (count - 1 - number) * 8
                guesses += [4, 0, 1, 0, UInt8(vendor & 0xFF), UInt8(vendor >> 8), 0, 0]
            }
            guesses += [0xA0, 0x0F, 0, 0] + (0..<4000).flatMap { _ in [3, 0, 0, 0] + Array("a=b".utf8) }
            // A block of the header with a length that leads nowhere.
            let source = MemorySource(Array(bytes.prefix(42)) + [1, 0xFF, 0xFF, 0xF0] + guesses + bytes.dropFirst(42))
            _ = try? AudioFile.open(source)
            return source.bytesRead
        }
        let (few, many) = (try cost(16), try cost(3000))
        #expect(many < few + 200_000, "\(few) and \(many) bytes")
    }
}
