import Foundation
import Media
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("A progressive MP4 as a stream (docs/playback.md, 15.8)", StreamTool.needed)
struct StreamedMovieTests {
    /// More packets than one part of a sample table that is read at once has: 4096.
    private static let seconds = 120

    @Test("All that has arrived plays without another request, wherever the tables are", arguments: [true, false])
    func tables(beginWithTables: Bool) throws {
        let content = try PackagedContent()
        try StreamTool.run(
            StreamTool.ffmpeg,
            [
                "-loglevel", "error", "-f", "lavfi", "-i", "anoisesrc=d=\(Self.seconds):r=44100:c=pink:seed=1", "-c:a",
                "aac", "-aac_pns", "0", "-b:a", "32k",
            ] + (beginWithTables ? ["-movflags", "+faststart"] : []) + ["a.m4a"], in: content.folder.path)
        // In steps: bytes before the read position are dropped as reading proceeds.
        content.serve { _ in 8 * 16_384 }
        let file = try FileByteSource(path: content.folder["a.m4a"])
        #expect(try #require(file.length) > 400_000)
        let local = try AudioFile.open(file, cancellation: nil)
        let expected = try local.decodeRest().samples
        #expect(expected.count > (Self.seconds - 1) * 44_100)

        let streamed = try content.open(
            #"{"mimeType": "audio/mp4", "codecs": "mp4a.40.2", "urls": ["https://content/a.m4a"]}"#,
            type: "application/vnd.tidal.bts")
        let start = try streamed.decodeRest(frames: 4096).samples
        let requests = content.fetched.count
        let rest = try streamed.decodeRest().samples
        #expect(content.fetched.count == requests)
        let isEqual = start.elementsEqual(expected.prefix(start.count))
        #expect(isEqual)
        // `decodeRest` drops the rest of the block that has the last frame.
        let isRestEqual = rest.elementsEqual(expected.suffix(rest.count))
        #expect(isRestEqual && expected.count - start.count - rest.count < 8192)

        // A seek reads the tables, and the packets from one other offset on.
        try streamed.seek(toFrame: 1_000_000)
        let again = try streamed.decodeRest().samples
        let isAgainEqual = again.elementsEqual(expected.suffix(again.count))
        #expect(isAgainEqual && again.count == expected.count - 1_000_000)
        #expect(content.fetched.count == requests + 1)
    }
}
