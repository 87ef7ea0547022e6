import ApplianceTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control

@Suite("Web: covers in small sizes (docs/web.md)")
struct WebThumbnailTests {
    /// A daemon whose thumbnails come from the simulated program.
    private struct Served {
        let web: WebFixture
        let simulated: SimulatedPictures
        var music: String { web.folder["music"] }

        func cover(_ path: String, _ size: String, _ headers: [String] = [], method: String = "GET") throws -> WebAnswer
        {
            try web.fetch(method, "/api/cover?path=\(music)/\(path)&size=\(size)", headers)
        }

        func write(_ picture: [UInt8], to album: String, as name: String = "cover.jpg") throws {
            try FileManager.default.createDirectory(atPath: "\(music)/\(album)", withIntermediateDirectories: true)
            try Data(picture).write(to: URL(fileURLWithPath: "\(music)/\(album)/\(name)"))
        }
    }

    private func served(
        settings: String = "", limits: PictureProgram.Limits = .ofTests,
        _ make: (ScratchFolder) throws -> Void = { _ in }
    ) throws -> Served {
        let web = try WebFixture(
            settings: settings, pictures: "bin/tonearm-pictures", limits: limits, make)
        return Served(web: web, simulated: try SimulatedPictures(in: web.folder["bin"]))
    }

    @Test("A cover comes as a small JPEG of each size, the second time without the program, also after a restart")
    func sizes() throws {
        let served = try served()
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(0), to: "A")
        for _ in 1...2 {
            for side in [64, 160, 320, 640] {
                let answer = try served.cover("A/1.flac", "\(side)")
                #expect(answer.status == 200 && answer.body == SimulatedPictures.thumbnail(side))
                #expect(answer.headers["content-type"] == "image/jpeg")
                #expect(
                    answer.headers["tonearm-width"] == "\(side)" && answer.headers["tonearm-height"] == "\(side / 2)")
                #expect(answer.headers["cache-control"] == "private, max-age=600")
            }
        }
        #expect(served.simulated.requests.map(\.side) == [64, 160, 320, 640])
        #expect(served.simulated.requests.allSatisfy { $0.offset == 0 && $0.length == 104 })
        served.web.end()
        try served.web.start()
        #expect(try served.cover("A", "160").body == SimulatedPictures.thumbnail(160))
        #expect(served.simulated.requests.count == 4)
        // Another picture of the same name and length.
        try served.write(SimulatedPictures.picture(9), to: "A")
        #expect(try served.cover("A", "160").status == 200 && served.simulated.requests.count == 5)
    }

    @Test("A conditional request, a part, and HEAD")
    func conditions() throws {
        let served = try served()
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(0), to: "A")
        let head = try served.cover("A", "160", method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty && head.headers["content-length"] == "200")
        #expect(head.headers["tonearm-width"] == "160")
        let tag = try #require(head.headers["etag"])
        let same = try served.cover("A", "160", ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag)
        #expect(try served.cover("A", "64", ["If-None-Match: \(tag)"]).status == 200)
        let part = try served.cover("A", "160", ["Range: bytes=1-2"])
        #expect(part.status == 206 && part.body == Array(SimulatedPictures.thumbnail(160)[1...2]))
        try served.write(SimulatedPictures.picture(0, 50), to: "A")
        #expect(try served.cover("A", "160", ["If-None-Match: \(tag)"]).status == 200)
    }

    @Test("Another size is refused with the allowed ones", arguments: ["", "0", "65", "0160", "160px", "-160", "1000"])
    func otherSizes(size: String) throws {
        let served = try served()
        defer { served.web.end() }
        let answer = try served.cover("A", size)
        #expect(answer.status == 400 && answer.code == "bad-request")
        #expect(answer.json["error"]?["message"]?.string?.contains("64, 160, 320 or 640") == true)
    }

    @Test(
        "A picture of which none can be made is refused twice, and tried once, whatever size is asked for",
        arguments: [(1, "JPEG, PNG or WebP"), (2, "damaged"), (3, "too large"), (0x45, "damaged"), (0x42, "damaged")])
    func refusals(code: UInt8, reason: String) throws {
        let served = try served()
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(code), to: "A")
        for size in ["160", "160", "64"] {
            let answer = try served.cover("A", size)
            #expect(answer.status == 422 && answer.code == "bad-cover", "\(answer.text)")
            #expect(answer.json["error"]?["message"]?.string?.contains(reason) == true)
        }
        // One that ends without an answer is asked once more.
        #expect(served.simulated.requests.count == (code == UInt8(ascii: "E") ? 2 : 1))
        // The whole picture is the client's to judge, and a mended one is tried.
        #expect(try served.web.get("/api/cover?path=\(served.music)/A").status == 200)
        try served.write(SimulatedPictures.picture(0), to: "A")
        #expect(try served.cover("A", "160").status == 200)
    }

    @Test("One that takes too long says nothing about the picture: the medium may be slow, and the client asks again")
    func slow() throws {
        let served = try served(limits: PictureProgram.Limits(request: 1_000_000))
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(UInt8(ascii: "H")), to: "A")
        for _ in 1...2 {
            let answer = try served.cover("A", "160")
            #expect(answer.status == 503 && answer.code == "system" && answer.headers["retry-after"] == "5")
        }
    }

    @Test("A system that lacks something is no fault of the picture: the client asks again", arguments: [5])
    func failures(code: UInt8) throws {
        let served = try served()
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(code), to: "A")
        for _ in 1...2 {
            let answer = try served.cover("A", "160")
            #expect(answer.status == 503 && answer.code == "system" && answer.headers["retry-after"] == "5")
        }
        #expect(served.simulated.requests.count == 2)
    }

    @Test("Ten clients at once make one thumbnail; other pictures wait for their turn")
    func atOnce() throws {
        let served = try served()
        defer { served.web.end() }
        served.simulated.closeGate()
        try served.write(SimulatedPictures.picture(UInt8(ascii: "G")), to: "A")
        for album in ["B", "C", "D", "E"] { try served.write(SimulatedPictures.picture(0), to: album) }
        func ask(_ album: String) throws -> WebExchange {
            try WebExchange(
                served.web.port, "GET", "/api/cover?path=\(served.music)/\(album)&size=160", ["Connection: close"])
        }
        let same = try (1...10).map { _ in try ask("A") }
        expectSoon("the first request") { served.simulated.requests.count == 1 }
        let others = try ["B", "C", "D", "E"].map { try ask($0) }
        served.simulated.openGate()
        for exchange in same + others {
            let answer = try exchange.whole()
            #expect(answer.status == 200 && answer.body == SimulatedPictures.thumbnail(160))
        }
        #expect(served.simulated.requests.count == 5)
    }

    @Test("The end of the server does not wait for a thumbnail")
    func end() throws {
        let served = try served()
        defer { served.web.end() }
        try served.write(SimulatedPictures.picture(UInt8(ascii: "H")), to: "A")
        let exchanges = try ["64", "160"].map {
            try WebExchange(served.web.port, "GET", "/api/cover?path=\(served.music)/A&size=\($0)", [])
        }
        expectSoon("the request") { served.simulated.requests.count == 1 }
        served.web.closeServer()
        for exchange in exchanges {
            try exchange.head()
            #expect(exchange.status == 503)
        }
    }

    @Test("Without the program the whole picture comes; kept thumbnails still do")
    func missing() throws {
        let served = try served()
        defer { served.web.end() }
        let picture = SimulatedPictures.picture(0)
        try served.write(picture, to: "A")
        #expect(try served.cover("A", "64").body == SimulatedPictures.thumbnail(64))
        try FileManager.default.removeItem(atPath: served.simulated.program)
        let whole = try served.cover("A", "160")
        #expect(whole.status == 200 && whole.body == picture && whole.headers["tonearm-width"] == nil)
        #expect(try served.cover("A", "64").body == SimulatedPictures.thumbnail(64))
    }

    @Test("The rules of whole covers hold: folders, links, and the login")
    func rules() throws {
        let password = NSTemporaryDirectory() + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: password) }
        let served = try served { folder in
            try Data(SimulatedPictures.picture(0)).write(to: URL(fileURLWithPath: folder["outside.jpg"]))
        }
        defer { served.web.end() }
        try FileManager.default.createDirectory(atPath: "\(served.music)/C", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(served.music)/C/cover.jpg", withDestinationPath: served.web.folder["outside.jpg"])
        try served.write([UInt8](repeating: 1, count: 100), to: "D")
        for path in ["C", "C/1.flac", "D", "none", "../outside.jpg", ""] {
            #expect(try served.cover(path, "160").code == "no-cover", "\(path)")
        }
        #expect(try served.web.get("/api/cover?size=160").code == "bad-request")
        #expect(served.simulated.requests.isEmpty)
        _ = FileManager.default.createFile(atPath: password, contents: Data("open sesame\n".utf8))
        let closed = try self.served(settings: "password-file = \(password)")
        defer { closed.web.end() }
        #expect(try closed.cover("A", "160").code == "login")
    }

    @Test("A picture in a music file comes from its range there, one in base64 from its bytes")
    func embedded() throws {
        let picture = SimulatedPictures.picture(0, 1000)
        // FLAC's picture block, as Vorbis comments have it.
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        let block =
            number(3) + number(10) + Array("image/jpeg".utf8) + number(0) + [UInt8](repeating: 0, count: 16)
            + number(picture.count) + picture
        let served = try served { folder in
            try Data(picture).write(to: URL(fileURLWithPath: folder["picture.jpg"]))
            for (name, tags, arguments) in [
                ("B", [], ["--picture=3|image/jpeg||1x1x24|\(folder["picture.jpg"])"]),
                ("C", ["METADATA_BLOCK_PICTURE=\(Data(block).base64EncodedString())"], []),
            ] {
                let path = "\(folder["music"])/\(name)"
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                try TaggedFLAC.data(["TITLE=X"] + tags, arguments).write(to: URL(fileURLWithPath: "\(path)/x.flac"))
            }
        }
        defer { served.web.end() }
        served.web.waitForTracks(2)
        for path in ["B/x.flac", "B", "C/x.flac"] {
            #expect(try served.cover(path, "320").body == SimulatedPictures.thumbnail(320))
        }
        let requests = served.simulated.requests
        #expect(requests.count == 2 && requests.allSatisfy { $0.length == 1004 })
        #expect(requests[0].offset > 0 && requests[1].offset == 0)
    }

    @Test(
        "The package's own program makes them",
        .enabled(if: FileKind(at: PictureProgram.besideThisProgram()) == .file))
    func real() throws {
        let web = try WebFixture(limits: .ofTests)
        defer { web.end() }
        for name in ["cover.jpg", "cover.png"] {
            let album = "\(web.folder["music"])/\(name)"
            try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: true)
            let made = try TestProcess.run(
                "/usr/bin/ffmpeg",
                ["-v", "error", "-f", "lavfi", "-i", "testsrc=size=400x300", "-frames:v", "1", "\(album)/\(name)"])
            #expect(made.code == 0, "\(made.errors)")
            let answer = try web.get("/api/cover?path=\(album)&size=160")
            #expect(answer.status == 200 && answer.body.starts(with: [0xFF, 0xD8]), "\(answer.text)")
            #expect(answer.headers["tonearm-width"] == "160" && answer.headers["tonearm-height"] == "120")
            try Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3]).write(to: URL(fileURLWithPath: "\(album)/\(name)"))
            #expect(try web.get("/api/cover?path=\(album)&size=160").status == 422)
        }
    }
}
