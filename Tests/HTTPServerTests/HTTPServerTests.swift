import Foundation
import Platform
import TestSupport
import Testing

@testable import HTTPServer

@Suite("The server, as curl sees it")
struct HTTPServerTests {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func serve(_ service: HTTPService) throws -> (server: HTTPServer, address: String) {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        return (try HTTPServer(on: socket, identity: nil, service), "http://\(socket.host):\(socket.port)")
    }

    /// The exit code of curl, the status line and headers, and the body.
    private func fetch(_ url: String, _ options: String...) throws -> (code: Int32, head: String, body: Data) {
        let result = try TestProcess.run(
            "/usr/bin/curl",
            ["-sS", "--noproxy", "*", "--max-time", "60", "-D", folder["head"], "-o", folder["body"]] + options + [url])
        let head = (try? String(contentsOfFile: folder["head"], encoding: .utf8)) ?? ""
        let body = try? Data(contentsOf: URL(fileURLWithPath: folder["body"]))
        return (result.code, head, body ?? Data())
    }

    private func status(_ head: String) -> Int? { head.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

    @Test("A request arrives with its parts decoded, names of headers in lower case, and its body")
    func request() throws {
        let received = Recorder<HTTPRequest>()
        let (server, address) = try serve(
            HTTPService {
                received.record($0)
                return .json(["ok": .boolean(true)], status: 201)
            })
        let answer = try fetch(
            "\(address)/a%20b/c?x=1%2B1&y=1&y=2", "--data-binary", "some bytes", "-H", "X-NAME: Value", "-H",
            "Content-Type: Application/X-WWW-Form-Urlencoded")
        #expect(status(answer.head) == 201 && answer.head.contains("Cache-Control: no-store"))
        #expect(String(decoding: answer.body, as: UTF8.self) == "{\"ok\":true}")
        let request = try #require(received.elements.first)
        #expect(request.method == "POST" && request.path == "/a b/c" && request.components == ["a b", "c"])
        #expect(request.query == ["x": "1+1", "y": "2"] && request.headers["x-name"] == "Value")
        #expect(request.body == Array("some bytes".utf8) && request.form == ["some bytes": ""])
        #expect(request.origin == address && !request.isSecure)
        withExtendedLifetime(server) {}
    }

    @Test("Another method, and a body beyond the limit of its path, are refused in the words of the service")
    func refusals() throws {
        var service = HTTPService { HTTPAnswer(body: ContentBody($0.body)) }
        service.bodyLimit = { $0 == "/large" ? 200_000 : 10 }
        let (plain, plainAddress) = try serve(service)
        service.refuse = { refusal, _ in .json(["refused": .string("\(refusal)")], status: 418) }
        let (own, ownAddress) = try serve(service)
        let large = folder["large"]
        try Data(repeating: 7, count: 200_000).write(to: URL(fileURLWithPath: large))

        #expect(try fetch("\(plainAddress)/large", "--data-binary", "@\(large)").body.count == 200_000)
        #expect(try status(fetch("\(plainAddress)/small", "--data-binary", "0123456789").head) == 200)
        #expect(try status(fetch("\(plainAddress)/small", "--data-binary", "0123456789a").head) == 413)
        let put = try fetch("\(plainAddress)/large", "-X", "PUT", "--data-binary", "0")
        #expect(status(put.head) == 405 && put.head.contains("Allow: GET, HEAD, POST"))
        let refused = try fetch("\(ownAddress)/small", "--data-binary", "@\(large)")
        #expect(status(refused.head) == 418 && String(decoding: refused.body, as: UTF8.self).contains("tooLarge"))
        withExtendedLifetime((plain, own)) {}
    }

    @Test("A body of memory and of a file is sent whole, and in parts over the border")
    func body() throws {
        let path = folder["file"]
        try Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) }).write(to: URL(fileURLWithPath: path))
        let file = try OpenedFile(path)
        let body = ContentBody([.bytes(Array("head".utf8)), .file(file, 1000..<200_000)])
        #expect(body.count == 199_004)
        let (server, address) = try serve(
            HTTPService { request in
                ServedResource(
                    body: body, contentType: "audio/flac", entityTag: "\"1\"",
                    cacheControl: "no-cache"
                ).answer(to: request)
            })
        let whole = Data("head".utf8) + (1000..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        #expect(try fetch(address).body == whole)
        let part = try fetch(address, "-r", "2-9")
        #expect(status(part.head) == 206 && part.body == whole[2..<10])
        // The length of the whole, and no body.
        #expect(try fetch(address, "-I").head.contains("Content-Length: 199004"))
        withExtendedLifetime(server) {}
    }

    @Test(
        "An answer with a pace: the bytes before its end are right, and curl says how it ended",
        arguments: [("close", 18), ("reset", 56), ("long", 18), ("slow", 0)] as [(String, Int32)])
    func pace(kind: String, code: Int32) throws {
        let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        let (server, address) = try serve(
            HTTPService { _ in
                var answer = HTTPAnswer(body: ContentBody(bytes))
                switch kind {
                case "long": answer.announcedLength = 50_010
                case "slow": answer.pace = { offset, _ in .send(atMost: offset == 0 ? 1 : 7000) }
                default:
                    answer.pace = { offset, connection in
                        guard offset >= 5000 else { return .send(atMost: Int(5000 - offset)) }
                        if kind == "reset" {
                            while connection.hasUnconfirmedBytes, !connection.waitForClose(milliseconds: 5) {}
                            connection.reset()
                        }
                        return .close
                    }
                }
                return answer
            })
        let answer = try fetch(address)
        #expect(answer.code == code)
        #expect(answer.body.elementsEqual(kind == "close" || kind == "reset" ? bytes[..<5000] : bytes[...]))
        withExtendedLifetime(server) {}
    }

    @Test("A body without a known end arrives part by part, and ends when the service ends it")
    func stream() throws {
        let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        // @unchecked: used on the connection's thread alone.
        final class Parts: @unchecked Sendable { var sent = 0 }
        let (server, address) = try serve(
            HTTPService { _ in
                let parts = Parts()
                var answer = HTTPAnswer(headers: [HTTPField("Content-Type", "text/event-stream")])
                answer.stream = HTTPStream { buffer in
                    let count = min(buffer.count, 999, bytes.count - parts.sent)
                    buffer.copyBytes(from: bytes[parts.sent..<parts.sent + count])
                    parts.sent += count
                    return count
                }
                return answer
            })
        let answer = try fetch(address)
        #expect(answer.code == 0 && answer.head.contains("Transfer-Encoding: chunked"))
        #expect(answer.body.elementsEqual(bytes))
        // An old client learns the end from the connection.
        #expect(try fetch(address, "--http1.0").body.elementsEqual(bytes))
        withExtendedLifetime(server) {}
    }

    @Test("An upgraded connection belongs to the service, with the bytes that came with the request")
    func upgrade() throws {
        let (server, address) = try serve(
            HTTPService { _ in
                var answer = HTTPAnswer(status: 101, headers: [HTTPField("Upgrade", "echo")])
                answer.upgrade = { socket in
                    if case .bytes(let bytes) = socket.receive() { _ = socket.send(bytes + [UInt8(ascii: "!")]) }
                    socket.close()
                    // The second time does nothing.
                    socket.close()
                }
                return answer
            })
        let port = address.split(separator: ":").last ?? ""
        let script = """
            import socket
            s = socket.create_connection(("127.0.0.1", \(port)))
            s.sendall(b"GET / HTTP/1.1\\r\\nHost: a\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\nearly")
            answer = b""
            while part := s.recv(4096):
                answer += part
            head, rest = answer.split(b"\\r\\n\\r\\n")
            print(head.split(b" ")[1].decode(), rest.decode())
            """
        let result = try TestProcess.run("/usr/bin/python3", ["-c", script])
        #expect(result.text == "101 early!\n", "\(result.errors)")
        withExtendedLifetime(server) {}
    }
}
