import Database
import Foundation
import HTTPServer
import Library
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("The origin's service")
struct ServiceTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
    }

    private func add(_ name: String, seed: UInt64 = 1, _ options: [String] = []) throws {
        try Music(frames: 5000, seed: seed).writeFLAC(to: folder["music/\(name)"], options)
    }

    private func start(_ options: String...) throws -> RunningOrigin {
        switch options.count {
        case 0: try RunningOrigin(folder["music"], state: folder["state"])
        case 2: try RunningOrigin(folder["music"], state: folder["state"], options[0], options[1])
        default:
            try RunningOrigin(folder["music"], state: folder["state"], options[0], options[1], options[2], options[3])
        }
    }

    private func expectRefusal(_ answer: Fetched, _ status: Int, _ subStatus: Int64) throws {
        let json = try answer.json()
        #expect(answer.status == status && json["status"]?.integer == Int64(status))
        #expect(json["subStatus"]?.integer == subStatus)
        #expect(json["userMessage"]?.string?.isEmpty == false)
    }

    @Test("Playbackinfo has the fields that a player reads")
    func playbackInfo() throws {
        try add("a.flac")
        let origin = try start()
        let answer = try Fetched(
            "\(origin.address)/v1/tracks/1/playbackinfo?immersiveaudio=false&playbackmode=OFFLINE"
                + "&assetpresentation=FULL&audioquality=LOSSLESS",
            "-H", "x-tidal-streamingsessionid: 3f6e", "-H", "Authorization: Bearer any")
        #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
        let json = try answer.json()
        #expect(json["trackId"]?.integer == 1)
        #expect(json["assetPresentation"]?.string == "FULL")
        #expect(json["audioMode"]?.string == "STEREO")
        #expect(json["audioQuality"]?.string == "LOSSLESS")
        #expect(json["streamingSessionId"]?.string == "3f6e")
        #expect(json["manifestHash"]?.string.flatMap { Data(base64Encoded: $0) }?.count == 32)
        let revalidate = try #require(json["offlineRevalidateAt"]?.integer)
        #expect(json["offlineValidUntil"]?.integer == revalidate + 7 * 86_400)
        let streamed = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").json()
        #expect(streamed["offlineRevalidateAt"] == nil && streamed["streamingSessionId"] == nil)
        #expect(streamed["manifestHash"] == json["manifestHash"])
    }

    @Test(
        "Requests that are refused",
        arguments: [
            ("/v1/tracks/2/playbackinfo", 404, 2001), ("/v1/tracks/x/playbackinfo", 404, 2001),
            ("/v1/tracks/99999999999999999999/playbackinfo", 404, 2001), ("/v1/videos/1/playbackinfo", 404, 2001),
            ("/", 404, 2001), ("/v1/tracks/1/playbackinfo?audioquality=BEST", 400, 1002),
            ("/v1/tracks/1/playbackinfo?playbackmode=x", 400, 1002),
            ("/v1/tracks/1/playbackinfo?manifest=x", 400, 1002), ("/v1/content/1/1-1/init.mp4", 403, 1003),
            ("/v1/content/1/1-1/init.mp4?token=9999999999~AAAA", 403, 1003),
        ])
    func refusals(path: String, status: Int, subStatus: Int64) throws {
        try add("a.flac")
        let origin = try start()
        try expectRefusal(try Fetched(origin.address + path), status, subStatus)
    }

    @Test("Only GET and HEAD")
    func methods() throws {
        try add("a.flac")
        let origin = try start()
        let address = origin.address + "/v1/tracks/1/playbackinfo"
        #expect(try Fetched(address, "-X", "POST", "-d", "a=b").status == 405)
        let head = try Fetched(address, "-I")
        #expect(head.status == 200 && head.headers["content-length"] != "0")
    }

    @Test("With a token only who has it gets playbackinfo, and content needs none")
    func token() throws {
        try add("a.flac")
        let origin = try start("--token", "secret", "--manifest", "bts")
        let address = "\(origin.address)/v1/tracks/1/playbackinfo"
        try expectRefusal(try Fetched(address), 401, 11003)
        try expectRefusal(try Fetched(address, "-H", "Authorization: Bearer wrong"), 401, 11003)
        let answer = try Fetched(address, "-H", "Authorization: Bearer secret")
        #expect(answer.status == 200)
        let content = try #require(try JSONValue.parse(try answer.manifest())["urls"]?[0]?.string)
        #expect(try Fetched(content).status == 200)
        #expect(try Fetched(content.replacing("/1/", with: "/2/")).status == 403)
    }

    @Test("An address outlives a restart, and its expiry is heard")
    func expiry() throws {
        try add("a.flac")
        let state = folder["state"]
        let origin = try ContentOrigin(musicFolder: folder["music"], stateFolder: state)
        _ = try origin.scan()
        let key = try SigningKey.load(from: state + "/signing.key")
        let index = try MusicIndex(in: state)
        func routes(at now: Int64) -> ServiceRoutes {
            ServiceRoutes(
                index: index, settings: OriginSettings(), signer: URLSigner(key: key),
                contents: TrackContents(index: index, encoded: nil, secret: nil)
            ) { now }
        }
        let track = try #require(try index.track(1))
        let path = ContentAddresses.folder(of: track) + "init.mp4"
        let token = URLSigner(key: key).signature(of: ContentAddresses.folder(of: track), until: 5000)
        let request = HTTPRequest(path: path, query: ["token": String(token.dropFirst("token=".count))])
        #expect(routes(at: 5000).answer(to: request).status == 200)
        #expect(routes(at: 5001).answer(to: request).status == 403)
        let mode = try FileManager.default.attributesOfItem(atPath: state + "/signing.key")[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test("Numbers stay: through restarts, new files, files that go and come back, and changed ones")
    func numbers() throws {
        func title(_ origin: RunningOrigin, _ id: Int) throws -> (status: Int, hash: String?) {
            let answer = try Fetched("\(origin.address)/v1/tracks/\(id)/playbackinfo")
            return (answer.status, try answer.json()["manifestHash"]?.string)
        }
        try add("b.flac")
        try add("c.flac", seed: 2)
        var origin = try start()
        let (first, second) = (try title(origin, 1), try title(origin, 2))
        #expect(first.status == 200 && second.status == 200 && first.hash != second.hash)
        try origin.end()
        try add("a.flac", seed: 3)
        try FileManager.default.moveItem(atPath: folder["music/c.flac"], toPath: folder["c.flac"])
        origin = try start()
        #expect(try title(origin, 1).hash == first.hash)
        #expect(try title(origin, 2).status == 404)
        #expect(try title(origin, 3).status == 200)
        try origin.end()
        try FileManager.default.moveItem(atPath: folder["c.flac"], toPath: folder["music/c.flac"])
        try add("b.flac", seed: 4)
        origin = try start()
        #expect(try title(origin, 2).hash == second.hash)
        #expect(try title(origin, 1).status == 200)
        #expect(try title(origin, 1).hash != first.hash)
    }

    @Test("A file that has changed since the scan is not served as what it was")
    func changed() throws {
        try add("a.flac")
        let origin = try start("--manifest", "bts")
        let address = "\(origin.address)/v1/tracks/1/playbackinfo"
        let content = try #require(
            try JSONValue.parse(try Fetched(address).manifest())["urls"]?[0]?.string)
        try add("a.flac", seed: 2)
        let answer = try Fetched(address)
        try expectRefusal(answer, 503, 4005)
        #expect(answer.headers["retry-after"] != nil)
        #expect(try Fetched(content).status == 404)
        try FileManager.default.removeItem(atPath: folder["music/a.flac"])
        try expectRefusal(try Fetched(address), 404, 2001)
    }

    #if AAC
        @Test("The manifest of a file with AAC names its type", arguments: [2, 5, 29])
        func typeOfAAC(type: Int) throws {
            try Music(frames: 5000).write(to: folder["music/a.m4a"], ["-c:a", "aac"])
            _ = try ContentOrigin(musicFolder: folder["music"], stateFolder: folder["state"]).scan()
            let index = try MusicIndex(in: folder["state"])
            var track = try #require(try index.track(1))
            #expect(track.aacObjectType == 2)
            // No encoder in Debian makes HE-AAC.
            track.aacObjectType = type
            let manifest = ServedManifest.bts(
                track, at: ContentAddresses(origin: "", folder: "", signature: ""))
            #expect(try JSONValue.parse(manifest.text)["codecs"]?.string == "mp4a.40.\(type)")
        }
    #endif

    @Test("Over TLS, with addresses of TLS")
    func tls() throws {
        try add("a.flac")
        try run(
            "/usr/bin/openssl",
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost", "-keyout", folder["key.pem"], "-out", folder["certificate.pem"],
            ])
        let origin = try start("--tls-certificate", folder["certificate.pem"], "--tls-key", folder["key.pem"])
        #expect(origin.address.hasPrefix("https://127.0.0.1:"))
        let named = origin.address.replacing("127.0.0.1", with: "localhost")
        let answer = try Fetched(
            "\(named)/v1/tracks/1/playbackinfo?manifest=bts", "--cacert", folder["certificate.pem"])
        let content = try #require(try JSONValue.parse(try answer.manifest())["urls"]?[0]?.string)
        #expect(content.hasPrefix(named))
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder["music/a.flac"])))
        #expect(try Fetched(content, "--cacert", folder["certificate.pem"]).body == bytes)
    }

    @Test(
        "With a public URL that has a path, all addresses lead through it", arguments: ["bts", "dash", "hls", "emu"])
    func publicPath(kind: String) throws {
        try add("a.flac")
        let base = "https://nas.example/music"
        for options in [[], ["--encrypt", "cbcs"]] {
            let origin = try RunningOrigin(
                folder["music"], state: folder["state"], options: ["--public-url", "\(base)/"] + options)
            /// Asks as the proxy does.
            func fetched(_ address: String, _ options: String...) throws -> Fetched {
                guard address.hasPrefix("\(base)/v1/") else { throw Unexpected("not below \(base): \(address)") }
                let inside = origin.address + address.dropFirst(base.count)
                return if let body = options.first { try Fetched(inside, "-d", body) } else { try Fetched(inside) }
            }
            func expectOnlyPublic(_ text: String) {
                let parts = text.components(separatedBy: "/v1/")
                #expect(parts.count > 1 && parts.dropLast().allSatisfy { $0.hasSuffix(base) }, "\(text)")
            }
            let info = try Fetched("\(origin.address)/v1/tracks/1/playbackinfo?manifest=\(kind)")
            var text = try info.manifest()
            expectOnlyPublic(text)
            if kind == "emu" {
                text = try fetched(try #require(try JSONValue.parse(text)["urls"]?[0]?.string)).text
                expectOnlyPublic(text)
            }
            let content = try #require(text.range(of: "\(base)/v1/content/")).lowerBound
            #expect(try fetched(String(text[content...].prefix { !"\"\n".contains($0) })).status == 200)
            let license = try info.json()["licenseUrl"]?.string
            #expect((license != nil) == !options.isEmpty)
            if let license { #expect(try fetched(license, "{\"kids\":[\"AAAA\"]}").status == 200) }
        }
    }

    @Test("A file that cannot be read is answered with 503, and a scan keeps it")
    func unreadable() throws {
        let album = folder["music/album"]
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: true)
        try add("album/a.flac")
        try add("b.flac")
        try Data("a.flac\n".utf8).write(to: URL(fileURLWithPath: "\(album)/l.m3u8"))
        let origin = try ContentOrigin(musicFolder: folder["music"], stateFolder: folder["state"])
        _ = try origin.scan()
        let index = try MusicIndex(in: folder["state"])
        let routes = ServiceRoutes(
            index: index, settings: OriginSettings(), signer: URLSigner(key: [UInt8](repeating: 1, count: 32)),
            contents: TrackContents(index: index, encoded: nil, secret: nil)
        ) { 1000 }
        let id = try #require(try index.track(at: "\(album)/a.flac", part: 0)?.id)
        let info = HTTPRequest(path: "/v1/tracks/\(id)/playbackinfo", headers: ["host": "nas"])
        #expect(routes.answer(to: info).status == 200)
        func expectUnreadable() throws {
            let answer = asNobody { routes.answer(to: info) }
            #expect(answer.status == 503)
            #expect(answer.headers.contains { $0.name == "Retry-After" })
            let summary = try asNobody { try origin.scan() }
            #expect(summary.gone == 0 && summary.playlists == 0)
            #expect(try index.track(id) != nil)
        }
        // A folder that cannot be listed, one whose files cannot be reached, and files.
        chmod(album, 0o000)
        try expectUnreadable()
        chmod(album, 0o744)
        try expectUnreadable()
        chmod(album, 0o755)
        for file in ["a.flac", "l.m3u8"] { chmod("\(album)/\(file)", 0o000) }
        try expectUnreadable()
        for file in ["a.flac", "l.m3u8"] { chmod("\(album)/\(file)", 0o644) }
        // The rights belong to the state of a file: it is read again.
        let summary = try asNobody { try origin.scan() }
        #expect(summary.read == 1 && summary.gone == 0)
        #expect(asNobody { routes.answer(to: info) }.status == 200)
        try FileManager.default.removeItem(atPath: album)
        #expect(routes.answer(to: info).status == 404)
        #expect(try origin.scan().gone == 1)
        #expect(routes.answer(to: info).status == 404)
    }

    @Test("A second origin with the same state is refused, and the first one goes on serving")
    func secondOrigin() throws {
        try add("a.flac")
        let origin = try start()
        let other = folder["other"]
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        // A process that serves would not end.
        let second = try TestProcess.run(
            TestProcess.path(of: "tonearm-origin"), ["serve", other, "--port", "0", "--state", folder["state"]],
            environment: Sanitizer.environment, output: .null)
        #expect(second.code == 1)
        let text = second.errors
        #expect(text.contains("another tonearm-origin runs with this state") && text.contains("--state"), "\(text)")
        #expect(try Fetched("\(origin.address)/v1/tracks/1/playbackinfo").status == 200)
        // The folder is free when the first has ended.
        try origin.end()
        let next = try start()
        #expect(try Fetched("\(next.address)/v1/tracks/1/playbackinfo").status == 200)
    }
}
