import Foundation
import Platform
import TestSupport
import Testing

@testable import Network

@Suite("Transfers")
struct TransferTests {
    private let nginx: Nginx
    private let network: Network

    init() throws {
        nginx = try Nginx.shared.get()
        network = try .forTests()
    }

    @Test("a body arrives byte by byte, and its head before it")
    func body() throws {
        let (sink, error) = network.run(nginx.url("/file"))
        #expect(error == nil)
        #expect(sink.body == nginx.file)
        let head = try #require(sink.response)
        #expect(head.status == 200)
        #expect(head.contentLength == Int64(nginx.file.count))
        #expect(head.value(of: "CONTENT-TYPE") == "application/octet-stream")
        #expect(head.effectiveURL == nginx.url("/file"))
        #expect(!head.isVerifiedTLS)
        #expect(abs(try #require(head.date) - Int64(time(nil))) < 3600)
        #expect(sink.endCount == 1)
    }

    @Test("HEAD has a head and no body, whatever the limit of the body is")
    func head() {
        let (sink, error) = network.run(TransferRequest(.head, url: nginx.url("/file"), maximumBody: 10))
        #expect(error == nil)
        #expect(sink.response?.contentLength == Int64(nginx.file.count))
        #expect(sink.body.isEmpty)
    }

    @Test(
        "a status of an error is a response",
        arguments: [("/missing", 404, "not here"), ("/empty", 204, ""), ("/not-modified", 304, "")])
    func status(path: String, status: Int, text: String) {
        let (sink, error) = network.run(nginx.url(path))
        #expect(error == nil)
        #expect(sink.response?.status == status)
        #expect(sink.text == text)
    }

    @Test(
        "a range is that part of the body", arguments: [(0, 10), (1000, 70_000), (3_145_727, nil)] as [(Int64, Int64?)])
    func range(from: Int64, upTo: Int64?) {
        let range = ByteRange(from: from, upTo: upTo)
        let (sink, error) = network.run(TransferRequest(url: nginx.url("/file"), range: range))
        #expect(error == nil)
        #expect(sink.response?.status == 206)
        #expect(sink.body == Array(nginx.file[Int(from)..<Int(upTo ?? Int64(nginx.file.count))]))
    }

    @Test("of a range without an end no more is asked for than the longest part", arguments: [(5, 10), (3_145_727, 9)])
    func longestPart(from: Int64, longest: Int64) {
        var request = TransferRequest(url: nginx.url("/file"), range: ByteRange(from: from))
        request.longestPart = longest
        let (sink, error) = network.run(request)
        #expect(error == nil && sink.response?.status == 206)
        #expect(sink.body == Array(nginx.file[Int(from)..<min(Int(from + longest), nginx.file.count)]))
        #expect(ByteRange(from: .max - 5).limited(to: 10) == ByteRange(from: .max - 5))
    }

    @Test("fields of the request are sent")
    func fields() {
        let headers = [
            HeaderField("Authorization", "Bearer a"), HeaderField("X-Token", ""), HeaderField("Accept", "b"),
        ]
        let (sink, _) = network.run(TransferRequest(url: nginx.url("/fields"), headers: headers))
        #expect(sink.text == "Bearer a|b||Tonearm")
    }

    @Test("POST sends its body", arguments: ["", "a=b", String(repeating: "x", count: 2_000_000)])
    func post(body: String) {
        let server = ScriptedServer { connection in
            let request = connection.request() ?? ""
            let isExpected =
                request.hasPrefix("POST /form ") && request.contains("Content-Type: text/x\r\n")
                && !request.contains("Expect:") && request.hasSuffix("\r\n\r\n" + body)
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\(isExpected ? "yes" : "no ")")
        }
        let method = TransferRequest.Method.post(body: Array(body.utf8), contentType: "text/x")
        #expect(network.run(TransferRequest(method, url: server.url("/form"))).sink.text == "yes")
    }

    @Test("connections are used again")
    func keepAlive() {
        let first = network.run(nginx.url("/connection")).sink.text.split(separator: " ")
        let second = network.run(nginx.url("/connection")).sink.text.split(separator: " ")
        #expect(first[0] == second[0])
        #expect(second[1] == "2")
    }

    @Test("a connection that the server has closed in the meantime is replaced")
    func staleConnection() {
        let server = ScriptedServer { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            // Closes instead of answering the second request.
            _ = connection.bytes()
        }
        for _ in 0..<2 {
            let (sink, error) = network.run(server.url())
            #expect(error == nil)
            #expect(sink.text == "ok")
        }
        #expect(server.connectionCount == 2)
    }

    @Test("a host gets so many connections at once; the others wait, longer than any limit of time")
    func places() throws {
        let network = try Network.forTests {
            $0.maximumConnectionsPerHost = 2
            ($0.connectTimeout, $0.firstByteTimeout) = (200, 200)
        }
        // The first two have enough at once, and hold their connections.
        let holders = [RecordingSink(room: 0), RecordingSink(room: 0)]
        let transfers = holders.map { network.start(TransferRequest(url: nginx.url("/file")), into: $0) }
        for holder in holders { holder.waitForRefusals(1) }
        let waiting = RecordingSink()
        _ = network.start(TransferRequest(url: nginx.url("/small")), into: waiting)
        // Longer than their time: a transfer to another host, which does not answer, meets its limit.
        let silent = ScriptedServer { $0.waitForClose() }
        #expect(network.run(silent.url()).error == .timeOut(.firstByte))
        #expect(waiting.endCount == 0)
        // A new connection is made for it: a transfer that is cancelled closes its own.
        transfers[0].cancel()
        #expect(waiting.waitForEnd() == nil)
        #expect(waiting.text == "small")
        holders[1].setRoom(nil)
        transfers[1].resume()
        #expect(holders[1].waitForEnd() == nil)
        #expect(holders[1].body == nginx.file)
    }

    @Test("fifty at once all arrive")
    func many() {
        let sinks = (0..<50).map { _ in RecordingSink() }
        for sink in sinks { _ = network.start(TransferRequest(url: nginx.url("/file")), into: sink) }
        for sink in sinks {
            #expect(sink.waitForEnd() == nil)
            #expect(sink.body == nginx.file)
        }
    }

    @Test("chunks, an interim response and fields at the end are understood")
    func chunks() {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n")
            connection.send("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-End: 1\r\n\r\n")
        }
        let (sink, error) = network.run(server.url())
        #expect(error == nil)
        #expect(sink.text == "abcde")
        #expect(sink.response?.contentLength == nil)
        #expect(sink.response?.value(of: "x-end") == nil)
    }

    @Test("a body without a length ends with the connection")
    func untilTheEnd() {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.0 200 OK\r\n\r\nabc")
        }
        let (sink, error) = network.run(server.url())
        #expect(error == nil)
        #expect(sink.text == "abc")
    }

    @Test("a body larger than wanted is refused, with a length and without", arguments: ["Content-Length: 9\r\n", ""])
    func tooLarge(field: String) {
        let server = ScriptedServer { connection in
            _ = connection.request()
            connection.send("HTTP/1.1 200 OK\r\n\(field)\r\n123456789")
        }
        let (sink, error) = network.run(TransferRequest(url: server.url(), maximumBody: 8))
        #expect(error == .tooLarge)
        #expect(sink.body.isEmpty)
        #expect(network.run(TransferRequest(url: server.url(), maximumBody: 9)).sink.text == "123456789")
    }

    @Test(
        "what cannot be sent is refused",
        arguments: [
            ("ftp://a/", [], .url), ("/a", [], .url), ("http://a b/", [], .url), ("http://user@a/", [], .url),
            ("http://a/\r\nX: y", [], .url), ("", [], .url),
            ("http://127.0.0.1/", [HeaderField("A", "b\r\nC: d")], .header(name: "A")),
            ("http://127.0.0.1/", [HeaderField("A b", "")], .header(name: "A b")),
            ("http://127.0.0.1/", [HeaderField("", "b")], .header(name: "")),
        ] as [(String, [HeaderField], InvalidRequest)])
    func invalid(url: String, headers: [HeaderField], reason: InvalidRequest) {
        #expect(network.run(TransferRequest(url: url, headers: headers)).error == .invalidRequest(reason))
    }

    @Test("an empty range is refused")
    func invalidRange() {
        let request = TransferRequest(url: nginx.url("/file"), range: ByteRange(from: 5, upTo: 5))
        #expect(network.run(request).error == .invalidRequest(.range))
    }

    // MARK: Redirects

    @Test("redirects are followed, up to five")
    func redirects() {
        let (sink, error) = network.run(nginx.url("/redirect/2"))
        #expect(error == nil)
        #expect(sink.text == "GET there")
        #expect(sink.response?.effectiveURL == nginx.url("/redirect/0"))
        #expect(network.run(nginx.url("/redirect/3")).error == .redirect(.tooMany))
        #expect(network.run(nginx.url("/loop")).error == .redirect(.tooMany))
    }

    @Test("a redirect is a response when it may not be followed")
    func noRedirects() {
        var request = TransferRequest(url: nginx.url("/redirect/1"))
        request.isRedirectAllowed = false
        let (sink, error) = network.run(request)
        #expect(error == nil)
        #expect(sink.response?.status == 302)
    }

    @Test("a redirect may lead from http to https, never back, and never into a file")
    func schemes() {
        let (sink, error) = network.run(nginx.url("/to-secure"))
        #expect(error == nil)
        #expect(sink.response?.isVerifiedTLS == true)
        #expect(sink.text == "small")
        #expect(network.run(nginx.secureURL("/to-plain")).error == .redirect(.insecure))
        #expect(network.run(nginx.url("/to-file")).error == .redirect(.address))
    }

    @Test("credentials stay with the origin that they are for")
    func credentials() {
        let headers = [
            HeaderField("Authorization", "Bearer a"), HeaderField("X-Token", "b"), HeaderField("Accept", "c"),
        ]
        let (sink, _) = network.run(TransferRequest(url: nginx.url("/to-other"), headers: headers))
        #expect(sink.text == "|c||Tonearm")
        #expect(sink.response?.effectiveURL == nginx.otherURL("/fields"))
    }

    @Test("POST becomes GET where the server says so")
    func seeOther() {
        let method = TransferRequest.Method.post(body: [1, 2, 3], contentType: "a/b")
        #expect(network.run(TransferRequest(method, url: nginx.url("/see-other"))).sink.text == "GET there")
    }

    // MARK: Proxies

    @Test("a proxy is asked instead of the server, and may refuse")
    func proxy() throws {
        let server = ScriptedServer { connection in
            let request = connection.request() ?? ""
            if request.hasPrefix("CONNECT ") {
                connection.send("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            } else {
                connection.send("HTTP/1.1 200 OK\r\n\r\n\(request.split(separator: "\r\n")[0])")
            }
        }
        let network = try Network.forTests { $0.proxy = server.url("") }
        #expect(network.run("http://music.example/a").sink.text == "GET http://music.example/a HTTP/1.1")
        #expect(network.run("https://music.example/a").error == .proxy(status: 407))
    }
}
