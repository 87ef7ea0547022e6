import Foundation
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Playlists of other machines in the origin's folder")
struct ForeignPlaylistTests {
    private let folder: ScratchFolder
    private static let decomposed = "Bjo\u{308}rk/Joga\u{301}.flac"

    init() throws {
        folder = try ScratchFolder()
        for (number, name) in ["Björk/Jogá.flac", "Albums/One/01 A.flac", "Albums/One/02 B.FLAC"].enumerated() {
            let path = folder["music/\(name)"]
            try FileManager.default.createDirectory(atPath: Folder.containing(path), withIntermediateDirectories: true)
            try Music(frames: 2000).writeFLAC(to: path, ["--tag=TITLE=\(number + 1)"])
        }
    }

    @Test("Names are found by other normal forms, cases, separators, drives, escapes and sets of characters")
    func found() throws {
        let lines: [(String, String)] = [
            (Self.decomposed, "1"), ("BJÖRK/jogá.FLAC", "1"), ("Bj%C3%B6rk/Jog%C3%A1.flac", "1"),
            ("C:\\Users\\me\\Music\\albums\\One\\01 a.flac", "2"), ("Albums\\One\\02 B.flac", "3"),
            ("file:///D:/Music/Albums/One/01%20A.flac", "2"), ("/home/me/Music/Bjo\u{308}rk/Jogá.flac", "1"),
            ("Albums/One/01 A.flac", "2"),
        ]
        let text = lines.map(\.0).joined(separator: "\r\n")
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder["music/utf8.m3u"]))
        let units = [0xFEFF] + Array(text.utf16)
        try Data(units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
            .write(to: URL(fileURLWithPath: folder["music/wide.m3u"]))
        let western = Array("Bj".utf8) + [0xF6] + Array("rk/Jog".utf8) + [0xE1] + Array(".flac\nC:\\gone.flac\n".utf8)
        try Data(western).write(to: URL(fileURLWithPath: folder["music/western.m3u"]))
        let origin = try RunningOrigin(folder["music"], state: folder["state"])
        func titles(_ path: String) throws -> [String] {
            let lists = try Fetched("\(origin.address)/v1/playlists").json()["items"]?.elements ?? []
            let id = lists.first { $0["title"]?.string == path }?["id"]?.integer ?? 0
            let items = try Fetched("\(origin.address)/v1/playlists/\(id)/tracks").json()["items"]?.elements
            return (items ?? []).map { $0["title"]?.string ?? "" }
        }
        #expect(try titles("utf8") == lines.map(\.1))
        #expect(try titles("wide") == lines.map(\.1))
        #expect(try titles("western") == ["1"])

        let program = try TestProcess.path(of: "tonearm-origin")
        let shown = try TestProcess.run(program, ["status", "--state", folder["state"]])
        #expect(shown.code == 0 && shown.text.hasPrefix("3 tracks, 0 albums, 3 playlists\n"), "\(shown.text)")
        #expect(shown.text.contains("western.m3u: 1 of 2 entries are not in the folder:\n  C:\\gone.flac"))
        let json = try JSONValue.parse(
            try TestProcess.run(program, ["status", "--json", "--state", folder["state"]]).text)
        #expect(json["playlists"]?[1]?["missing"] == ["C:\\gone.flac"] && json["playlists"]?[0]?["missing"] == [])

        // A file that comes later is found then.
        try FileManager.default.copyItem(
            atPath: folder["music/Björk/Jogá.flac"], toPath: folder["music/gone.flac"])
        try origin.line { $0.contains("4 tracks") || $0.contains("1 new or changed") }
        #expect(try titles("western") == ["1", "1"])
    }

    @Test("Without an index the status says so")
    func none() throws {
        let result = try TestProcess.run(
            TestProcess.path(of: "tonearm-origin"), ["status", "--state", folder["nothing"]])
        #expect(result.code == 1 && result.errors.contains("there is no index"))
    }
}
