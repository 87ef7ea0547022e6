import Platform
import Testing

@testable import Network

@Suite("HTTP")
struct HTTPTests {
    @Test(
        "dates have three forms (RFC 9110, 5.6.7)",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            // The time is 2027: 77 is the latest year that is not more than 50 years in the future.
            ("Friday, 01-Jan-77 00:00:00 GMT", 3_376_684_800), ("Sunday, 01-Jan-78 00:00:00 GMT", 252_460_800),
        ])
    func date(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(of: text, now: 1_800_000_000) == seconds)
    }

    @Test(
        "what is not a date has no time",
        arguments: [
            "", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 2100 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
        ])
    func noDate(text: String) {
        #expect(HTTPDate.seconds(of: text, now: 1_800_000_000) == nil)
    }

    private func read(_ lines: [String]) -> (HeadReader, HeadReader.Progress) {
        var reader = HeadReader()
        var progress = HeadReader.Progress.more
        for line in lines where progress == .more || progress == .interim {
            progress = Array("\(line)\r\n".utf8).withUnsafeBytes { reader.append($0) }
        }
        return (reader, progress)
    }

    @Test("the last head counts, and a field may have several lines")
    func head() {
        let (reader, progress) = read([
            "HTTP/1.1 103 Early Hints", "Link: </a>", "", "HTTP/1.1 200", "Content-Length:  12 ", "X-Long: a", "\tb ",
            "Empty:", "Set-Cookie: a", "set-cookie: b", "",
        ])
        #expect(progress == .complete)
        let head = ResponseHead(reader, effectiveURL: "http://a/", isVerifiedTLS: false, now: 0)
        #expect(head.status == 200)
        #expect(head.contentLength == 12)
        #expect(head.value(of: "x-long") == "a b")
        #expect(head.value(of: "EMPTY") == "")
        #expect(head.values(of: "Set-Cookie") == ["a", "b"])
        #expect(head.value(of: "link") == nil)
    }

    @Test(
        "what is not a head is refused",
        arguments: [
            (["HTTP/1.1 20 OK"], .malformed), (["ICY 200 OK"], .malformed), (["HTTP/1.1 2000 OK"], .malformed),
            (["HTTP/1.1 999 OK"], .malformed), (["HTTP/1.1 099 OK"], .malformed), ([""], .malformed),
            (["HTTP/1.1 200 OK", "no colon"], .malformed), (["HTTP/1.1 200 OK", ": none"], .malformed),
            (["HTTP/1.1 200 OK", " blank"], .malformed),
            (["HTTP/1.1 200 OK"] + (0...256).map { "a\($0): b" }, .tooLarge),
            (["HTTP/1.1 200 OK", "a: " + String(repeating: "b", count: 65_536)], .tooLarge),
            // Interim responses without an end.
            (Array(repeating: ["HTTP/1.1 100 Continue", ""], count: 4096).flatMap { $0 }, .tooLarge),
        ] as [([String], HeadReader.Progress)])
    func noHead(lines: [String], progress: HeadReader.Progress) {
        #expect(read(lines).1 == progress)
    }

    @Test(
        "the length of a body is a number, or not known",
        arguments: [
            (["Content-Length: 9223372036854775807"], 1 << 48), (["Content-Length: 9223372036854775808"], nil),
            (["Content-Length: -1"], nil), (["Content-Length: +1"], nil), (["Content-Length:"], nil),
            (["Content-Length: 5", "Transfer-Encoding: chunked"], nil), ([], nil),
        ] as [([String], Int64?)])
    func length(fields: [String], length: Int64?) {
        let head = ResponseHead(
            read(["HTTP/1.1 200 OK"] + fields + [""]).0, effectiveURL: "", isVerifiedTLS: false, now: 0)
        #expect(head.contentLength == length)
    }

    @Test(
        "ranges are inclusive on the wire",
        arguments: [
            (0, nil, "bytes=0-"), (5, 10, "bytes=5-9"), (5, 5, nil), (-1, nil, nil), (5, Int64.min, nil),
        ] as [(Int64, Int64?, String?)])
    func range(from: Int64, upTo: Int64?, value: String?) {
        #expect(ByteRange(from: from, upTo: upTo).fieldValue == value)
    }

    @Test(
        "a pin is the base64 of 32 bytes",
        arguments: [
            (["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="], true), ([], false), (["sha256//x"], false),
            (["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "a"], false),
            (["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSu;U="], false),
        ])
    func pin(keys: [String], isValid: Bool) {
        #expect((HostPin(host: "example.org", keys: keys) != nil) == isValid)
    }

    @Test("all pins of a host count, whatever the case of its name is, and with a final dot")
    func pins() throws {
        let (first, second) = (
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="
        )
        var settings = NetworkSettings { 0 }
        settings.pins = try [("a.example", first), ("b.example", first), ("A.example", second)].map { host, key in
            try #require(HostPin(host: host, keys: [key]))
        }
        #expect(settings.pinnedKeys(of: "a.example") == "sha256//\(first);sha256//\(second)")
        #expect(settings.pinnedKeys(of: "B.EXAMPLE.") == "sha256//\(first)")
        #expect(settings.pinnedKeys(of: "c.a.example") == nil)
    }
}

@Suite("Redirects (RFC 9110, 15.4)")
struct RedirectionTests {
    private func redirection(
        _ url: String, _ method: TransferRequest.Method = .get, _ headers: [HeaderField] = []
    ) throws -> Redirection {
        Redirection(TransferRequest(method, url: url, headers: headers), to: try #require(WebAddress(url)))
    }

    @Test(
        "lead to an address, which may be relative",
        arguments: [
            ("/b", "http://a.example/b"), ("b?c", "http://a.example/x/b?c"), ("//b.example/", "http://b.example/"),
            ("https://b.example", "https://b.example/"), ("HTTP://B.example:80/a b", "http://B.example:80/a%20b"),
        ])
    func address(location: String, url: String) throws {
        var redirection = try redirection("http://a.example/x/y")
        #expect(try redirection.follow(status: 302, location: location))
        #expect(redirection.address.text == url)
    }

    @Test(
        "are refused",
        arguments: [
            ("https://a/", "http://a/", .insecure), ("http://a/", "ftp://a/", .address), ("http://a/", "", .address),
            ("http://a/", "http://user:secret@b/", .address), ("https://a/", "file:///etc/passwd", .address),
            ("http://a/", "http://b\0c/", .address),
        ] as [(String, String, RedirectFailure)])
    func refused(url: String, location: String, failure: RedirectFailure) throws {
        var redirection = try redirection(url)
        #expect(throws: failure) { try redirection.follow(status: 301, location: location) }
    }

    @Test(
        "only these statuses redirect, and only with a location",
        arguments: [
            (200, true, false), (300, true, false), (304, true, false), (305, true, false), (301, false, false),
            (301, true, true), (302, true, true), (303, true, true), (307, true, true), (308, true, true),
        ])
    func statuses(status: Int, hasLocation: Bool, follows: Bool) throws {
        var redirection = try redirection("http://a/")
        #expect(try redirection.follow(status: status, location: hasLocation ? "/b" : nil) == follows)
    }

    @Test("are followed five times")
    func limit() throws {
        var redirection = try redirection("http://a/")
        for count in 1...5 { #expect(try redirection.follow(status: 302, location: "/\(count)")) }
        #expect(throws: RedirectFailure.tooMany) { try redirection.follow(status: 302, location: "/6") }
    }

    @Test(
        "turn POST into GET, except 307 and 308",
        arguments: [(301, false), (302, false), (303, false), (307, true), (308, true)])
    func method(status: Int, keeps: Bool) throws {
        let post = TransferRequest.Method.post(body: [1], contentType: "a/b")
        var redirection = try redirection("http://a/", post)
        _ = try redirection.follow(status: status, location: "/b")
        #expect(redirection.method == (keeps ? post : .get))
    }

    @Test(
        "to another origin carry no credentials",
        arguments: [
            ("https://a/b", 2), ("https://A:443/b", 2), ("https://a:444/", 1), ("https://b/", 1),
        ])
    func credentials(location: String, count: Int) throws {
        var redirection = try redirection(
            "https://a/", .get, [HeaderField("Authorization", "Bearer x"), HeaderField("If-Range", "\"y\"")])
        _ = try redirection.follow(status: 302, location: location)
        #expect(redirection.headers.count == count)
        #expect(redirection.headers.last?.name == "If-Range")
    }
}

@Suite("Limits of time")
struct PhaseDeadlineTests {
    private func deadline(firstByteTimeout: Int? = nil, longestSilence: Int? = nil) -> PhaseDeadline {
        var settings = NetworkSettings { 0 }
        (settings.connectTimeout, settings.firstByteTimeout, settings.silenceTimeout) = (10, 20, 30)
        return PhaseDeadline(settings, firstByteTimeout: firstByteTimeout, longestSilence: longestSilence)
    }

    @Test(
        "a request may limit the silence of every phase, and lengthens none",
        arguments: [
            (nil, nil, [10, 10, 20, 30]), (nil, 4, [4, 4, 4, 4]), (nil, 25, [10, 10, 20, 25]),
            (25, 25, [10, 10, 25, 25]), (50, nil, [10, 10, 50, 30]),
        ] as [(Int?, Int?, [Int64])])
    func limited(firstByteTimeout: Int?, longestSilence: Int?, milliseconds: [Int64]) {
        let phases: [TransferPhase] = [.resolving, .connecting, .firstByte, .body]
        let found = phases.map { phase in
            var deadline = deadline(firstByteTimeout: firstByteTimeout, longestSilence: longestSilence)
            deadline.enter(phase, at: 0)
            return deadline.deadline
        }
        #expect(found == milliseconds.map { $0 * 1_000_000 })
    }

    @Test("the first byte is timed from the request on, also that of a redirect; waits before it do not count")
    func firstByteDelay() {
        var deadline = deadline()
        let first: [(TransferPhase, Int64)] = [(.waiting, 0), (.resolving, 50), (.connecting, 60), (.firstByte, 70)]
        for (phase, time) in first { deadline.enter(phase, at: time) }
        #expect(deadline.firstByteDelay == nil)
        deadline.enter(.body, at: 75)
        deadline.progress(at: 90)
        #expect(deadline.firstByteDelay == 5)
        // On an open connection.
        let second: [(TransferPhase, Int64)] = [(.waiting, 100), (.firstByte, 150), (.body, 157)]
        for (phase, time) in second { deadline.enter(phase, at: time) }
        #expect(deadline.firstByteDelay == 7)
    }

    @Test("waiting for a place among the connections, and a pause of the sink, have none")
    func none() {
        var deadline = deadline()
        #expect(deadline.deadline == nil)
        deadline.enter(.body, at: 5)
        deadline.pause()
        #expect(deadline.deadline == nil)
        deadline.resume(at: 1_000_000)
        #expect(deadline.deadline == 31_000_000)
    }

    @Test("resolving and connecting share one, however many addresses are tried")
    func connecting() {
        var deadline = deadline()
        deadline.enter(.resolving, at: 1)
        deadline.enter(.connecting, at: 5)
        deadline.enter(.connecting, at: 7)
        #expect(deadline.deadline == 10_000_001)
        deadline.enter(.firstByte, at: 9)
        #expect(deadline.deadline == 20_000_009)
    }

    @Test("a body has one for the silence between bytes")
    func silence() {
        var deadline = deadline()
        deadline.enter(.body, at: 0)
        deadline.progress(at: 40_000_000)
        #expect(deadline.deadline == 70_000_000)
    }
}
