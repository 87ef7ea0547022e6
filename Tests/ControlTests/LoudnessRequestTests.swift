import ApplianceTestSupport
import Database
import PCM
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control
@testable import Playback
@testable import Player

@Suite("Requests about measured loudness (docs/control.md, \"Measured loudness\")")
struct LoudnessRequestTests {
    private let file = MusicFileVersion(path: "/music/a.flac", size: 31_415, modified: -7)

    private func request(_ line: String) -> Result<RemoteRequest, RequestMistake> {
        RequestLine(.whole(Array(line.utf8))).request
    }

    @Test("Lines and what they ask for; the command writes such files")
    func lines() throws {
        let result = FileLoudness(file, ReplayGain(trackGain: -7.25, trackPeak: 0.98))
        let known = try request(#"{"request":"loudness-known","files":[\#(LoudnessJSON.value(file).serialized())]}"#)
            .get()
        #expect(known == .later(.loudness(.known([file]))))
        let keep = try request(#"{"request":"loudness-keep","files":[\#(LoudnessJSON.value(result).serialized())]}"#)
            .get()
        #expect(keep == .later(.loudness(.keep([result]))))
    }

    @Test(
        "Mistakes name the field",
        arguments: [
            (#""files":[]"#, "files: must be a list of files, each with path, size, modified, trackGain"),
            (#""files":[1]"#, "files[0]: must be an object with path, size, modified, trackGain"),
            (#""files":[{"path":"/a","size":1,"modified":1},{"size":1,"modified":1}]"#, "files[1]: must be an object"),
            (#""files":[{"path":"a","size":1,"modified":1}]"#, "files[0]: must be an object"),
            (#""files":[{"path":"/a","size":-1,"modified":1}]"#, "files[0]: must be an object"),
            (#""files":[{"path":"/a","size":1}]"#, "files[0]: must be an object"),
            (#""files":[{"path":"/a","size":1,"modified":1,"gain":1}]"#, "files[0]: must be an object"),
            (#""files":[{"path":"/a","size":1,"modified":1,"trackGain":"x"}]"#, "files[0]: must be an object"),
        ])
    func mistakes(_ fields: String, _ message: String) {
        guard case .failure(let mistake) = request(#"{"request":"loudness-keep",\#(fields)}"#) else {
            Issue.record("\(fields) is accepted")
            return
        }
        #expect(mistake.description.hasPrefix(message))
    }

    @Test("A stored result is known, for this version of the file alone, and in the state's database")
    func stored() throws {
        let fixture = try RemoteFixture()
        let client = try fixture.connect()
        func ask(_ request: String, _ files: [JSONValue]) throws -> JSONValue {
            try client.send(#"{"request":"\#(request)","files":\#(JSONValue.array(files).serialized())}"# + "\n")
            return try JSONValue.parse(try #require(try client.line()))
        }
        let other = MusicFileVersion(path: file.path, size: file.size, modified: 8)
        let files = [file, other].map { LoudnessJSON.value($0) }
        #expect(try ask("loudness-known", files)["known"] == [false, false])
        let gain = ReplayGain(trackGain: -7.25, trackPeak: 0.98, albumGain: 1.5, albumPeak: 1.01)
        #expect(try ask("loudness-keep", [LoudnessJSON.value(FileLoudness(file, gain))])["ok"] == true)
        #expect(try ask("loudness-known", files)["known"] == [true, false])
        fixture.shutDown()
        let database = try Database(path: fixture.folder["state/\(Player.databaseName)"])
        #expect(try LoudnessRows(database).replayGain(of: file) == gain)
        #expect(try LoudnessRows(database).replayGain(of: other) == nil)
    }
}
