import Foundation
import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Playback
@testable import Player
@testable import Streaming

/// Files on servers of this machine, over real connections.
@Suite("Web files play (docs/playback.md, 18)")
struct WebFilesTests: WebFileSuite {
    private let folder: ScratchFolder
    private let track: Track
    private let file: [UInt8]
    let files = WebFiles(NetworkSettings { 1_800_000_000 })

    init() throws {
        folder = try ScratchFolder()
        track = try Track("a", frames: 100_000, rate: 48_000, in: folder)
        file = try track.file
    }

    // MARK: Formats and servers

    private static let kinds: [(name: String, options: [String])] = [
        ("a.wav", []), ("a.aiff", []), ("a.w64", []), ("a.mp3", ["-c:a", "libmp3lame"]), ("a.m4a", ["-c:a", "aac"]),
        ("first.m4a", ["-c:a", "alac", "-movflags", "faststart"]),
        ("fragments.mp4", ["-c:a", "aac", "-movflags", "frag_keyframe"]),
        ("a.ogg", ["-c:a", "libvorbis"]), ("a.opus", ["-c:a", "libopus"]), ("flac.ogg", ["-c:a", "flac"]),
        ("a.aac", ["-c:a", "aac"]), ("a.mka", ["-c:a", "flac"]), ("a.wv", ["-c:a", "wavpack"]),
    ]

    private static let hasFFmpeg = FileManager.default.isExecutableFile(atPath: StreamTool.ffmpeg)

    @Test(
        "Every container decodes as from the disk, from its beginning and after a seek, whatever the server can do",
        .enabled(if: hasFFmpeg, "needs ffmpeg: tools/setup"))
    func containers() throws {
        var contents = ["/a.flac": file]
        for (name, options) in Self.kinds {
            try StreamTool.run(
                StreamTool.ffmpeg, ["-loglevel", "error", "-y", "-i", track.product.productId] + options + [name],
                in: folder.path)
            contents["/\(name)"] = try Array(Data(contentsOf: URL(fileURLWithPath: folder[name])))
        }
        let servers = FileServer.Manner.allCases.map { (manner: $0, server: FileServer(contents, $0)) }
        for path in contents.keys.sorted() {
            let local = try LocalFiles().open(
                MediaProduct(productType: .track, productId: folder[String(path.dropFirst())], referenceId: "r"),
                session: PlaybackSession(), cancellation: Cancellation(), medium: MediumAccess()
            ).decoder
            let expected = try ([0, 60_001, 7] as [Int64]).map { frame in
                try local.seek(toFrame: frame)
                return (frame: frame, samples: try decoded(local))
            }
            for (manner, server) in servers {
                let opened = try open(server.url(path))
                #expect(opened.productId == server.url(path))
                for (frame, samples) in expected {
                    if frame > 0 { try opened.decoder.seek(toFrame: frame) }
                    let isEqual = try decoded(opened.decoder) == samples
                    #expect(isEqual, "\(path) from \(frame), \(manner)")
                }
                // A decoder may know its end from the header, before the transfer has reported its own end.
                expectSoon("the end of the transfer of \(path), \(manner)") { opened.fetching?.isFetched == true }
            }
        }
    }

    @Test("A seek to the middle requests a range, and the file is not fetched twice")
    func range() throws {
        let long = try Track("long", frames: 1_000_000, rate: 48_000, in: folder)
        let server = FileServer(["/a.flac": try long.file])
        let files = WebFiles(over: try network(), readAhead: 256 << 10)
        let decoder = try open(server.url("/a.flac"), of: files).decoder
        try decoder.seek(toFrame: 900_000)
        #expect(try decoded(decoder) == long.samples(from: 900_000))
        let starts = server.rangeStarts.compactMap { $0 }
        let middle = try long.file.count / 2
        #expect(starts.max() ?? 0 > middle)
    }

    private func network() throws -> Network { try Network(NetworkSettings { 1_800_000_000 }) }

    @Test("A connection that breaks again and again: the rest is requested, and every sample is heard")
    func broken() throws {
        let size = file.count
        let server = FileServer(["/a.flac": file]) { [file] head, number, connection in
            // The first answers end after a quarter of the file each.
            guard number < 3 else { return false }
            let start = number * size / 4
            let range =
                number == 0 ? "200 OK" : "206 Partial Content\r\nContent-Range: bytes \(start)-\(size - 1)/\(size)"
            connection.send("HTTP/1.1 \(range)\r\nContent-Length: \(size - start)\r\n\r\n")
            connection.send(Array(file[start..<((number + 1) * size / 4)]))
            connection.end()
            return true
        }
        let medium = MediumAccess()
        let opened = try open(server.url("/a.flac"), medium)
        #expect(try decoded(opened.decoder) == track.samples)
        #expect(server.rangeStarts.prefix(4) == [nil, size / 4, size / 2, size * 3 / 4])
    }

    @Test("Blanks and letters beyond ASCII are escaped, redirects are followed, and the address stays that of the user")
    func redirected() throws {
        let server = FileServer(["/%C3%A4%20b.flac": file]) { head, _, connection in
            guard FileServer.path(of: head) == "/old%20one" else { return false }
            connection.send("HTTP/1.1 302 Found\r\nLocation: /%C3%A4%20b.flac\r\nContent-Length: 0\r\n\r\n")
            return true
        }
        for path in ["/ä b.flac", "/old one"] {
            let opened = try open(server.url(path))
            #expect(opened.productId == server.url(path))
            #expect(try decoded(opened.decoder) == track.samples)
        }
    }

    // MARK: What a server learns

    @Test("Nothing of the content service is sent: no token, no cookie, no field; also when both share the network")
    func secrets() throws {
        try Data("very-secret".utf8).write(to: URL(fileURLWithPath: folder["token"]))
        let info = ScriptedService.info(url: "http://127.0.0.1:1/")
        let service = FileServer([:]) { _, _, connection in
            connection.send(
                "HTTP/1.1 404 No\r\nSet-Cookie: of=service; Path=/\r\nContent-Length: \(info.utf8.count)\r\n\r\n"
                    + info)
            return true
        }
        var settings = StreamingSettings(service: ServiceSettings(baseURL: service.url("")))
        settings.tokenFile = folder["token"]
        let streaming = try StreamingService(
            settings, clock: TrustedCertificateClock(TrustedClock(store: nil), released: 1_700_000_000))
        defer { streaming.stop() }
        let router = SourceRouter(service: streaming.source, web: streaming.web)
        #expect(throws: PlayerError.self) { try open("tonearm:track/7", of: router) }
        #expect(service.requests.elements.contains { $0.contains("very-secret") })
        let server = FileServer(["/a.flac": file])
        #expect(try decoded(open(server.url("/a.flac"), of: router).decoder) == track.samples)
        // The same host and another port, to which cookies would be sent.
        for head in server.requests.elements.map({ $0.lowercased() }) {
            for word in ["authorization", "cookie", "x-tidal", "secret"] { #expect(!head.contains(word), "\(head)") }
        }
    }

    @Test("Cookies of the server itself come back to it, for the same product alone")
    func cookies() throws {
        let server = FileServer(["/a.flac": file]) { [file] head, number, connection in
            guard number == 0 else { return false }
            connection.send("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: \(file.count)\r\n\r\n")
            connection.send(Array(file[..<(file.count / 2)]))
            connection.end()
            return true
        }
        #expect(try decoded(open(server.url("/a.flac")).decoder) == track.samples)
        #expect(server.requests.elements.map { $0.contains("Cookie: a=b") } == [false, true])
        _ = try open(server.url("/a.flac"))
        #expect(server.requests.elements.last?.contains("Cookie") == false)
    }

    // MARK: No request

    @Test("Addresses with a password, of playlists, and without a host cause no request and show no password")
    func refused() throws {
        let server = FileServer(["/a.flac": file])
        let secret = server.url("/a.flac").replacingOccurrences(of: "//", with: "//me:secret@")
        for (url, shown) in [(secret, server.url("/a.flac")), (server.url("/a.m3u"), server.url("/a.m3u"))] {
            let error = #expect(throws: PlayerError.self) { try open(url) }
            #expect(error?.code == "a2" && error?.message.hasPrefix("\(shown): ") == true)
            #expect(error?.message.contains("secret") == false)
        }
        #expect(throws: PlayerError.self) { try open("http:///a.flac") }
        #expect(server.connectionCount == 0)
    }

    @Test("In offline mode no request is made, and the error says so")
    func offline() throws {
        let server = FileServer(["/a.flac": file])
        let mode = OfflineMode()
        mode.isOn = true
        let router = SourceRouter(web: files, offlineMode: mode)
        let product = MediaProduct(productType: .track, productId: server.url("/a.flac"), referenceId: "r")
        let error = #expect(throws: PlayerError.self) { try open(product.productId, of: router) }
        #expect(error?.kind == .notAllowed && error?.code == "a3" && error?.reach == .product)
        #expect(error?.message.hasSuffix("the player is in offline mode ([offline] only).") == true)
        #expect(server.connectionCount == 0)
        #expect(SourceRouter.route(of: product) == .web && router.streams(product))
        #expect(throws: PlayerError.self) { try open(product.productId, of: SourceRouter()) }
    }

    @Test("Offline mode that begins ends the transfers of the player's own network")
    func offlineLater() throws {
        let server = FileServer([:]) { [file] _, _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(file.count)\r\n\r\n")
            connection.send(Array(file[..<(file.count / 2)]))
            connection.waitForClose()
            return true
        }
        let mode = OfflineMode()
        files.follow(mode) { true }
        let decoder = try open(server.url("/a.flac")).decoder
        mode.isOn = true
        #expect(throws: MediaError.source(.offlineMode)) { try decoded(decoder) }
        files.stop()
    }

    // MARK: A server that never answers, and one that did

    private func scripted(_ isLinked: Bool = true) -> (network: ScriptedNetwork, files: WebFiles) {
        let network = ScriptedNetwork()
        let files = WebFiles(over: network)
        files.follow(OfflineMode()) { isLinked }
        return (network, files)
    }

    @Test("An address that has never answered is retried four times, then the next entry decides")
    func dead() throws {
        let (network, files) = scripted()
        network.server = { transfer in
            transfer.end(.connection(.refused))
            Thread.detachNewThread { network.passDelays() }
        }
        let error = #expect(throws: PlayerError.self) { try open("http://nas/a.flac", of: files) }
        #expect(error?.kind == .network && error?.code == "n1" && error?.reach == .content)
        #expect(network.transfers.count == 5)
    }

    @Test("Without a link it is retried until there is one; and without end after bytes have come")
    func patient() throws {
        for isLinked in [false, true] {
            let (network, files) = scripted(isLinked)
            let attempts = Locked(0)
            network.server = { [file] transfer in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                let start = Int(transfer.request.range?.from ?? 0)
                if attempt == 1, isLinked {
                    transfer.begin(200, [("Content-Length", "\(file.count)")])
                    transfer.deliver(Array(file[..<1000]))
                }
                guard attempt > 20 else {
                    transfer.end(.connection(.unreachable))
                    Thread.detachNewThread { network.passDelays() }
                    return
                }
                transfer.begin(
                    start > 0 ? 206 : 200,
                    [("Content-Length", "\(file.count - start)")]
                        + (start > 0 ? [("Content-Range", "bytes \(start)-\(file.count - 1)/\(file.count)")] : []))
                transfer.deliver(Array(file[start...]))
                transfer.end()
            }
            #expect(try decoded(open("http://nas/a.flac", of: files).decoder) == track.samples)
            #expect(network.transfers.count == 21)
        }
    }

    @Test("A file that has another version when it is read elsewhere is opened again, and plays from that frame")
    func changed() throws {
        let (network, files) = scripted()
        let attempts = Locked(0)
        network.server = { [file] transfer in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            let start = Int(transfer.request.range?.from ?? 0)
            transfer.begin(
                start > 0 ? 206 : 200,
                [("ETag", attempt == 1 ? "\"1\"" : "\"2\""), ("Content-Length", "\(file.count - start)")]
                    + (start > 0 ? [("Content-Range", "bytes \(start)-\(file.count - 1)/\(file.count)")] : []))
            if attempt == 1 {
                transfer.deliver(Array(file[..<65_536]))
            } else {
                transfer.deliver(Array(file[start...]))
                transfer.end()
            }
        }
        let opened = try open("http://nas/a.flac", of: files)
        try opened.decoder.seek(toFrame: 99_000)
        #expect(try decoded(opened.decoder) == track.samples(from: 99_000))
        #expect(opened.fetching?.failure == nil && network.transfers.count >= 3)
    }

    @Test("A server that fails is retried three times; then the next entry decides")
    func failing() throws {
        let (network, files) = scripted()
        network.server = { transfer in
            transfer.answer(503)
            Thread.detachNewThread { network.passDelays() }
        }
        let error = #expect(throws: PlayerError.self) { try open("http://nas/a.flac", of: files) }
        #expect(error?.kind == .retryable && error?.code == "h503" && error?.reach == .content)
        #expect(error?.message == "http://nas/a.flac: the server fails at present (status 503). Try again later.")
        #expect(network.transfers.count == 4)
    }

    // MARK: A stream without an end

    @Test(
        "A stream without an end plays, and holds no more than the read-ahead", .enabled(if: hasFFmpeg, "needs ffmpeg"))
    func endless() throws {
        try StreamTool.run(
            StreamTool.ffmpeg,
            [
                "-loglevel", "error", "-y", "-i", track.product.productId, "-c:a", "libmp3lame", "-write_xing", "0",
                "a.mp3",
            ],
            in: folder.path)
        let frames = try Array(Data(contentsOf: URL(fileURLWithPath: folder["a.mp3"])))
        let sent = Locked(0)
        let server = FileServer([:]) { _, _, connection in
            connection.send("HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\nicy-name: Radio\r\n\r\n")
            while connection.send(frames) { sent.withLock { $0 += frames.count } }
            return true
        }
        let readAhead = 256 << 10
        let medium = MediumAccess()
        let opened = try open(server.url("/radio"), of: WebFiles(over: try network(), readAhead: readAhead), medium)
        #expect(opened.decoder.properties.frameCount == nil && opened.fetching?.isFetched == false)
        let buffer = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 16_384)
        defer { buffer.deallocate() }
        var heard = 0
        // Half a minute, several times the file.
        while heard < 48_000 * 30 {
            switch try opened.decoder.read(into: buffer) {
            case .frames(let count): heard += count
            case .notYet:
                let arrival = try WakeUp()
                opened.decoder.whenReadable { arrival.signal() }
                try #require(arrival.wait(milliseconds: 60_000))
            case .format, .end: Issue.record("it ends, or changes")
            }
        }
        // The kernel's buffers hold a few megabytes on their own.
        #expect(sent.value < heard / 48_000 * 16_000 + readAhead + (16 << 20))
    }
}
