import Foundation
import Platform
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Heads of requests that could be understood in two ways (RFC 9112)")
struct RequestHeadTests {
    private static let heads: [(lines: [String], mistake: String?)] = [
        (["GET /a%20b?c=%25 HTTP/1.1", "Host: a"], nil), (["GET / HTTP/1.0"], nil),
        (["GET /a%2500 HTTP/1.1", "Host: a"], nil),
        (["GET / HTTP/1.1"], "Host is missing"),
        (["GET / HTTP/1.1", "Host: a", "Host: b"], "2 Host"), (["GET / HTTP/1.1", "Host: a", "hOST: a"], "2 Host"),
        (["GET /a.css%00.png HTTP/1.1", "Host: a"], "zero byte"), (["GET /?a=%00 HTTP/1.1", "Host: a"], "zero byte"),
        (["GET /?a=b%00 HTTP/1.1", "Host: a"], "zero byte"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: 2", "Content-Length: 2"], nil),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: 2", "Content-Length: 1"], "different lengths"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: 2", "content-length: 02"], "different lengths"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: 2, 2"], "not a number"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: +2"], "not a number"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length: 2", "Content-Length: -2"], "not a number"),
        (["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: Chunked"], nil),
        (["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Content-Length: 2"], "one of them"),
        (["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: identity"], "only Transfer-Encoding"),
        (
            ["POST / HTTP/1.1", "Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: x"],
            "only Transfer-Encoding"
        ),
        (["POST / HTTP/1.0", "Host: a", "Transfer-Encoding: chunked"], "HTTP/1.0"),
        (["POST / HTTP/1.1", "Host: a", "Content-Length : 2"], "the name of a header"),
    ]

    @Test("Each is understood in one way, or has its mistake", arguments: heads)
    func mistakes(lines: [String], mistake: String?) throws {
        let first = lines[0].split(separator: " ")
        var head = RequestHead(target: String(first[1]), version: String(first[2]))
        head.fields = lines.dropFirst().map { line in
            let colon = line.firstIndex(of: ":")!
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
        if let mistake {
            #expect(head.mistake?.contains(mistake) == true, "\(head.mistake ?? "none")")
        } else {
            #expect(head.mistake == nil)
        }
    }

    @Test("A server answers them with 400, and nothing after them")
    func server() throws {
        let socket = try ListeningSocket(address: "127.0.0.1", port: 0)
        let answered = Recorder<String>()
        let server = try HTTPServer(
            on: socket, identity: nil,
            HTTPService {
                answered.record($0.path)
                return HTTPAnswer()
            })
        for (lines, mistake) in Self.heads where mistake != nil {
            let client = try StreamSocket(connectingTo: "127.0.0.1", port: UInt16(socket.port))
            // A proxy may take the second request for a part of the first one.
            let text = lines.joined(separator: "\r\n") + "\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n"
            let answer = try client.exchange(text)
            #expect(answer.hasPrefix("HTTP/1.1 400") || answer.hasPrefix("HTTP/1.0 400"), "\(lines): \(answer)")
            #expect(!answer.contains("HTTP/1.1 200"), "\(lines): \(answer)")
        }
        #expect(answered.elements == [])
        withExtendedLifetime(server) {}
    }
}

extension StreamSocket {
    /// Sends a text, and returns what comes until the end of the connection.
    fileprivate func exchange(_ text: String) throws -> String {
        limitWaits(ofSocket: descriptor)
        try Array(text.utf8).withUnsafeBytes { _ = try send($0) }
        var received: [UInt8] = []
        let deadline = Deadline()
        while true {
            try waitForDescriptor(descriptor, "the end of an answer, after \(received.count) bytes", until: deadline)
            var chunk = [UInt8](repeating: 0, count: 4096)
            // A reset is an end: the server has not read everything.
            let count = (try? chunk.withUnsafeMutableBytes { try receive(into: $0) }) ?? 0
            if count == 0 { return String(decoding: received, as: UTF8.self) }
            received += chunk[..<count]
        }
    }
}
