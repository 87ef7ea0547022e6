import Foundation
import PCM
import Testing

@testable import Manifests
@testable import Media

@Suite("Cue sheets inside of files")
struct EmbeddedCueSheetTests {
    private static let text = """
        PERFORMER "Various"
        TITLE "An Album"
        FILE "An Album.wav" WAVE
          TRACK 01 AUDIO
            TITLE "First"
            INDEX 01 00:00:33
          TRACK 02 AUDIO
            TITLE "Second"
            INDEX 00 00:01:00
            INDEX 01 00:02:74

        """

    private static let embedded = """
        FILE "elsewhere.wav" WAVE
          TRACK 01 AUDIO
            INDEX 01 00:00:00
          TRACK 02 AUDIO
            ISRC GBAAA9800002
            INDEX 00 00:01:00
            INDEX 01 00:01:30

        """

    @Test("The block of a FLAC file, as `flac` writes it: places in samples, and its end", Tool.needsFLAC)
    func block() throws {
        let signal = Signal(frames: 44_100 * 4)
        let bytes = try withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("sheet.cue")
            try Self.embedded.write(to: file, atomically: false, encoding: .utf8)
            return try signal.flac(["--cuesheet=\(file.path)"])
        }
        let sheet = try #require(try Self.sheet(in: bytes))
        #expect(sheet.files == [[]] && sheet.tracks.map(\.metadata.trackNumber) == [1, 2])
        let boundary: Int64 = 44_100 + 30 * 588
        #expect(
            sheet.tracks.map(\.place) == [
                .init(file: 0, start: .frames(0), end: .frames(boundary)),
                .init(file: 0, start: .frames(boundary), end: .frames(44_100 * 4)),
            ])
        #expect(sheet.tracks.map(\.isrc) == [nil, "GBAAA9800002"])
        // After a tag, and cut off at any byte.
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 100] + [UInt8](repeating: 0, count: 100)
        #expect(try Self.sheet(in: tag + bytes) == sheet)
        for count in 0..<1000 { _ = try Self.sheet(in: Array(bytes.prefix(count))) }
    }

    @Test("The comment CUESHEET, with tags, before the block; longer than other comments may be", Tool.needsFLAC)
    func comment() throws {
        let filler = String(repeating: "REM COMMENT nothing to hear here\n", count: 300)
        let bytes = try withTemporaryFolder { folder in
            let (block, text) = (folder.appendingPathComponent("b.cue"), folder.appendingPathComponent("t.cue"))
            try Self.embedded.write(to: block, atomically: false, encoding: .utf8)
            try (filler + Self.text).write(to: text, atomically: false, encoding: .utf8)
            return try Signal(frames: 44_100 * 4).flac([
                "--cuesheet=\(block.path)", "--tag-from-file=cuesheet=\(text.path)", "-T", "TITLE=Whole",
            ])
        }
        let sheet = try #require(try Self.sheet(in: bytes))
        #expect(sheet.tracks == CueSheet(parsing: Array(Self.text.utf8)).tracks)
        #expect(try AudioFile.open(MemorySource(bytes)).metadata.title == "Whole")
    }

    @Test("Files without one", Tool.needsFLAC)
    func none() throws {
        for bytes in [try Signal(frames: 100).flac(), Array("RIFF".utf8), []] {
            #expect(try Self.sheet(in: bytes) == nil)
        }
    }

    private static func sheet(in bytes: [UInt8]) throws -> CueSheet? {
        try AudioFile.cueSheet(in: MemorySource(bytes)).flatMap(CueSheet.init)
    }
}
