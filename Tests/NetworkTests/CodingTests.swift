import Foundation
import TestSupport
import Testing

@testable import Network

/// Bytes that real encoders have compressed.
private struct Coded: Sendable, CustomTestStringConvertible {
    static let plain: [UInt8] = {
        // Text, which repeats itself near and far, and bytes that no encoder makes shorter.
        var generator = SystemRandomNumberGenerator()
        let noise = (0..<5000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let lines = (0..<1500).map { "#EXTINF:4.\($0 % 7),\n/segment/\($0 * 37 % 900).mp4?a=\($0)\n" }.joined()
        return Array(lines.utf8) + noise + [UInt8](repeating: 0, count: 70_000) + Array(lines.utf8) + noise
    }()

    static let all: Result<[Coded], any Error> = Result {
        let folder = try ScratchFolder()
        try Data(plain).write(to: URL(fileURLWithPath: folder["plain"]))
        let result = try TestProcess.run("/usr/bin/python3", ["-c", script], in: folder.path)
        guard result.code == 0 else { throw Unexpected(result.errors) }
        return try result.text.split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            return Coded(name: words[0], coding: words[1], bytes: Array(try Data(contentsOf: folder.url(words[0]))))
        }
    }

    private static let script = """
        import gzip, zlib
        plain = open("plain", "rb").read()
        def write(name, coding, data):
            open(name, "wb").write(data)
            print(name, coding)
        def deflate(level, wbits, strategy=zlib.Z_DEFAULT_STRATEGY):
            coder = zlib.compressobj(level, zlib.DEFLATED, wbits, 9, strategy)
            return coder.compress(plain) + coder.flush()
        for level in (0, 1, 6, 9):
            write(f"gzip-{level}", "gzip", gzip.compress(plain, level))
        write("fixed", "x-gzip", deflate(9, 31, zlib.Z_FIXED))
        write("huffman", "GZIP", deflate(9, 31, zlib.Z_HUFFMAN_ONLY))
        write("zlib", "deflate", deflate(9, 15))
        write("zlib-small-window", "zlib", deflate(6, 9))
        write("bare", "deflate", deflate(9, -15))
        write("bare-stored", "deflate", deflate(0, -15))
        body = deflate(6, -15)
        tail = zlib.crc32(plain).to_bytes(4, "little") + len(plain).to_bytes(4, "little")
        head = b"\\x1f\\x8b\\x08\\x1e" + bytes(6) + b"\\x03\\x00abc" + b"name\\0" + b"comment\\0" + b"\\x00\\x00"
        write("fields", "gzip", head + body + tail)
        third = len(plain) // 3
        write("members", "gzip", gzip.compress(plain[:third]) + gzip.compress(b"") + gzip.compress(plain[third:]))
        write("padded", "gzip", gzip.compress(plain) + bytes(100))
        """

    var name: String
    var coding: String
    var bytes: [UInt8]

    var testDescription: String { name }
}

extension ScratchFolder {
    fileprivate func url(_ name: String) -> URL { URL(fileURLWithPath: self[name]) }
}

@Suite("Bodies that are coded without being asked for")
struct CodingTests {
    private let all: [Coded]

    init() throws { all = try Coded.all.get() }

    /// The output of the decoder for bytes that arrive in pieces; nil when they are damaged.
    private func decoded(_ bytes: [UInt8], _ coding: ContentCoding, piece: Int) -> (bytes: [UInt8], isComplete: Bool)? {
        var decoder = BodyDecoder(coding)
        var plain: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let input = Array(bytes[start..<min(start + piece, bytes.count)])
            var position = 0
            var progress = BodyDecoder.Progress.isFull
            while progress == .isFull {
                progress = input.withUnsafeBytes { decoder.run($0, at: &position) }
                plain += decoder.takeOutput()
            }
            if progress == .damaged { return nil }
            #expect(position == input.count)
        }
        return (plain, decoder.isComplete)
    }

    private func coding(_ name: String) throws -> ContentCoding {
        let head = ResponseHead(
            status: 200, headers: [HeaderField("content-encoding", "identity, \(name)")], effectiveURL: "http://a/")
        return try #require(try ContentCoding(of: head))
    }

    @Test("all that encoders make is decoded, in pieces of any size", arguments: [1, 777, .max / 2])
    func decodes(piece: Int) throws {
        #expect(all.count == 13)
        for coded in piece == 1 ? all.filter({ $0.name == "fields" || $0.name == "bare" }) : all {
            let result = decoded(coded.bytes, try coding(coded.coding), piece: piece)
            #expect(result?.bytes == Coded.plain && result?.isComplete == true, "\(coded.name)")
        }
    }

    @Test("data that ends early is not complete, and changed data is damaged or not complete")
    func damaged() throws {
        var generator = SystemRandomNumberGenerator()
        for coded in all where coded.name != "bare-stored" {
            let coding = try coding(coded.coding)
            for _ in 0..<2 {
                let end = Int.random(in: 1..<(coded.bytes.count - 100), using: &generator)
                let early = decoded(Array(coded.bytes[..<end]), coding, piece: 4096)
                #expect(early.map { $0.isComplete && coded.name != "members" } != true, "\(coded.name) up to \(end)")
                // Bare data has no checksum, and the time in the head of gzip does not count.
                if coded.name.hasPrefix("bare") { continue }
                var changed = coded.bytes
                changed[Int.random(in: 100..<(coded.bytes.count - 110), using: &generator)] ^= 0x10
                let result = decoded(changed, coding, piece: 4096)
                #expect(result?.isComplete != true || result?.bytes == Coded.plain, "\(coded.name)")
            }
        }
    }

    // MARK: Transfers

    /// A server whose answers are coded.
    private func server(_ body: [UInt8], _ coding: String, status: String = "200 OK") -> ScriptedServer {
        ScriptedServer { connection in
            while connection.request() != nil {
                connection.send(
                    "HTTP/1.1 \(status)\r\nContent-Encoding: \(coding)\r\nETag: \"1\"\r\n"
                        + "Content-Length: \(body.count)\r\n\r\n")
                connection.send(body)
            }
        }
    }

    private func gzip(_ name: String = "gzip-6") throws -> [UInt8] {
        try #require(all.first { $0.name == name }).bytes
    }

    @Test("a whole answer is decoded, and its head speaks of the bytes that arrive", arguments: [true, false])
    func whole(hasRoom: Bool) throws {
        let server = server(try gzip(), "gzip")
        let network = try Network.forTests()
        let sink = RecordingSink(room: hasRoom ? nil : 50_000)
        let transfer = network.start(TransferRequest(url: server.url()), into: sink)
        for room in hasRoom ? [] : [50_000, 100_000, 150_000, nil] {
            sink.waitForRefusals(1)
            sink.setRoom(room)
            transfer.resume()
        }
        #expect(sink.waitForEnd() == nil)
        #expect(sink.body == Coded.plain)
        let head = try #require(sink.response)
        #expect(head.isDecoded && head.contentLength == nil && head.value(of: "content-encoding") == nil)
        #expect(head.value(of: "etag") == "\"1\"")
    }

    @Test("no answer is asked to be coded")
    func notAskedFor() throws {
        let server = ScriptedServer { connection in
            let request = connection.request() ?? ""
            let answer = request.lowercased().contains("accept-encoding") ? "yes" : "no"
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(answer.count)\r\n\r\n\(answer)")
        }
        #expect(try Network.forTests().run(server.url()).sink.text == "no")
    }

    @Test("the reason of an error is decoded, and an answer without a body is left as it is")
    func errors() throws {
        let small = try TestProcess.run("/bin/sh", ["-c", "printf reason | gzip -c | base64"])
        let body = Array(try #require(Data(base64Encoded: small.text, options: .ignoreUnknownCharacters)))
        let failing = server(body, "gzip", status: "404 Not Found")
        let network = try Network.forTests()
        #expect(network.run(failing.url()).sink.text == "reason")
        let unknown = server(body, "br", status: "404 Not Found")
        #expect(network.run(unknown.url()).sink.body == body)
        let empty = server([], "gzip")
        #expect(network.run(empty.url()).error == nil)
        let head = network.run(TransferRequest(.head, url: empty.url()))
        #expect(head.error == nil && head.sink.response?.value(of: "content-encoding") == "gzip")
    }

    @Test("a part of what is coded as a whole is an error that names the coding")
    func parts() throws {
        let body = try gzip()
        let (whole, part) = (server(body, "gzip"), server(body, "gzip", status: "206 Partial Content"))
        let network = try Network.forTests()
        var request = TransferRequest(url: whole.url(), range: ByteRange(from: 5, upTo: 10))
        #expect(network.run(request).error == .coding(.ofPart(coding: "gzip")))
        request.range = ByteRange(from: 5)
        #expect(network.run(request).error == .coding(.ofPart(coding: "gzip")))
        #expect(network.run(part.url()).error == .coding(.ofPart(coding: "gzip")))
        request.range = nil
        #expect(network.run(request).error == nil)
        request.isReadInParts = true
        #expect(network.run(request).error == .coding(.ofPart(coding: "gzip")))
        #expect(TransferError.coding(.ofPart(coding: "gzip")).description.contains("gzip"))
    }

    @Test("another coding is an error that names it", arguments: ["br", "zstd", "gzip, gzip", "compress", "aes128gcm"])
    func unknown(coding: String) throws {
        let server = server([1, 2, 3], coding)
        let error = try Network.forTests().run(server.url()).error
        #expect(error == .coding(.unknown(coding: coding)))
        #expect(error?.description.contains(coding) == true)
    }

    @Test("a body that is not what its field says, and one that ends early")
    func wrong() throws {
        let network = try Network.forTests()
        let plain = server(Array("#EXTM3U\n".utf8), "gzip")
        #expect(network.run(plain.url()).error == .coding(.damaged(coding: "gzip")))
        let short = server(Array(try gzip().dropLast(9)), "gzip")
        #expect(network.run(short.url()).error == .truncated)
        let none = server(Array(try gzip().prefix(3)), "gzip")
        #expect(network.run(none.url()).error == .truncated)
    }

    @Test("the limit of a body counts what it is decoded to")
    func bomb() throws {
        let bomb = try TestProcess.run("/bin/sh", ["-c", "head -c 30000000 /dev/zero | gzip -9 | base64"])
        let body = Array(try #require(Data(base64Encoded: bomb.text, options: .ignoreUnknownCharacters)))
        let server = server(body, "gzip")
        let network = try Network.forTests()
        let (sink, error) = network.run(TransferRequest(url: server.url(), maximumBody: 1 << 20))
        #expect(error == .tooLarge && sink.body.count <= 1 << 20)
        let limit = Int64(Coded.plain.count)
        let exact = self.server(try gzip(), "gzip")
        #expect(network.run(TransferRequest(url: exact.url(), maximumBody: limit)).error == nil)
        #expect(network.run(TransferRequest(url: exact.url(), maximumBody: limit - 1)).error == .tooLarge)
        // An endless body that decodes to nothing: stored blocks that are empty.
        let endless = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n")
            let blocks = [[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: 20_000).flatMap { $0 }
            for _ in 0..<20 { connection.send(blocks) }
        }
        #expect(network.run(TransferRequest(url: endless.url(), maximumBody: 1 << 20)).error == .tooLarge)
    }

    @Test("what is decoded is stored without its coding, and with a weak tag")
    func stored() throws {
        let head = ResponseHead(
            status: 200,
            headers: [
                HeaderField("Content-Encoding", "gzip"), HeaderField("Content-Length", "5"),
                HeaderField("ETag", "\"1\""), HeaderField("Cache-Control", "max-age=60"),
            ], effectiveURL: "https://a.example/b")
        var request = TransferRequest(url: "https://a.example/b")
        request.cacheScope = .path
        let response = try #require(
            CachedResponse(
                storing: head.decoded, of: request, body: [UInt8](repeating: 1, count: 16), requested: 0, received: 0))
        #expect(response.value(of: "content-encoding") == nil && response.value(of: "etag") == "W/\"1\"")
        // The rest of it is not requested.
        #expect(response.validator == nil)
    }
}
