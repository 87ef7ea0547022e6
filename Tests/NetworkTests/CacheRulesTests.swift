import Testing

@testable import Network

@Suite("The cache: what the fields mean (RFC 9111)")
struct CacheRulesTests {
    private static let date = "Fri, 15 Jan 2027 08:00:00 GMT"
    /// `date` in seconds since 1970.
    private static let now: Int64 = 1_800_000_000

    private func request(
        _ url: String = "https://a.example/b", _ headers: [(String, String)] = [], range: ByteRange? = nil
    ) -> TransferRequest {
        var request = TransferRequest(url: url, headers: headers.map { HeaderField($0.0, $0.1) }, range: range)
        request.cacheScope = .path
        return request
    }

    private func stored(
        _ headers: [(String, String)], request: TransferRequest? = nil, received: Int64 = now, status: Int = 200
    ) -> CachedResponse? {
        let request = request ?? self.request()
        let head = ResponseHead(
            status: status, headers: headers.map { HeaderField($0.0, $0.1) }, effectiveURL: request.url)
        return CachedResponse(
            storing: head, of: request, body: [UInt8](repeating: 1, count: 16), requested: received,
            received: received)
    }

    private func complete(_ headers: [(String, String)], request: TransferRequest? = nil) -> CachedResponse? {
        var response = stored(headers, request: request)
        response?.isComplete = true
        response?.count = 100
        return response
    }

    private func at(_ seconds: Int64, isProved: Bool = true) -> CertificateTime {
        CertificateTime(Self.now + seconds, isProved: isProved)
    }

    @Test(
        "Cache-Control",
        arguments: [
            ("max-age=60", 60, nil, ""), ("MAX-AGE = \"60\"", 60, nil, ""), ("max-age=60, max-age=5", 5, nil, ""),
            ("max-age=x", 0, nil, ""), ("max-age", 0, nil, ""), ("max-age=-1", 0, nil, ""),
            ("max-age=99999999999999999999", 2_147_483_648, nil, ""), ("private, s-maxage=5", nil, nil, ""),
            ("no-store", nil, nil, "s"), ("no-cache=\"a, no-store\", max-age=1", 1, nil, "c"),
            ("max-age=1,must-revalidate,,stale-if-error=86400", 1, 86_400, "m"), ("", nil, nil, ""),
            ("x=\"\\\"no-store\"", nil, nil, ""), ("x=\"unclosed, no-store", nil, nil, ""),
        ] as [(String, Int64?, Int64?, String)])
    func control(text: String, age: Int64?, staleIfError: Int64?, flags: String) {
        let control = CacheControl([text])
        #expect(control.maximumAge == age && control.staleIfError == staleIfError)
        #expect(control.isNeverStored == flags.contains("s") && control.isAlwaysRevalidated == flags.contains("c"))
        #expect(control.mustRevalidate == flags.contains("m"))
    }

    @Test("Several fields are one list")
    func fields() {
        let control = CacheControl(["max-age=60", "no-cache"])
        #expect(control.maximumAge == 60 && control.isAlwaysRevalidated)
    }

    @Test(
        "How long a response is fresh: max-age before Expires, less the age that it has already",
        arguments: [
            ([("Cache-Control", "max-age=60")], 59, true), ([("Cache-Control", "max-age=60")], 60, false),
            ([("Cache-Control", "max-age=60"), ("Age", "50")], 9, true),
            ([("Cache-Control", "max-age=60"), ("Age", "50")], 10, false),
            ([("Cache-Control", "max-age=60"), ("Age", "x")], 59, true),
            // The server's clock was 20 s slow, or the response took that long.
            ([("Cache-Control", "max-age=60"), ("Date", "Fri, 15 Jan 2027 07:59:40 GMT")], 39, true),
            ([("Cache-Control", "max-age=60"), ("Date", "Fri, 15 Jan 2027 07:59:40 GMT")], 40, false),
            ([("Date", date), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")], 59, true),
            ([("Date", date), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")], 60, false),
            ([("Date", date), ("Expires", "0"), ("ETag", "\"1\"")], 0, false),
            ([("Cache-Control", "max-age=60"), ("Expires", "0")], 59, true),
            ([("Cache-Control", "max-age=60, no-cache")], 0, false),
            ([("Last-Modified", "Fri, 15 Jan 2016 08:00:00 GMT")], 0, false),
            // The clock has been set back.
            ([("Cache-Control", "max-age=60")], -1, false),
        ] as [([(String, String)], Int64, Bool)])
    func freshness(headers: [(String, String)], after: Int64, isFresh: Bool) throws {
        let response = try #require(complete(headers))
        #expect(Freshness(response).isFresh(at: at(after)) == isFresh)
        #expect((CacheDecision(request(), stored: response, at: at(after)) == .serve) == isFresh)
        #expect(!Freshness(response).isFresh(at: at(after, isProved: false)))
    }

    @Test(
        "Responses are stored that may be stored and are of use later",
        arguments: [
            (200, [("Cache-Control", "max-age=60")], true), (200, [("ETag", "\"1\"")], true), (200, [], false),
            (200, [("Cache-Control", "max-age=0")], false), (200, [("Cache-Control", "max-age=60, no-store")], false),
            (200, [("Cache-Control", "max-age=60"), ("Vary", "*")], false),
            (200, [("Cache-Control", "max-age=60"), ("Vary", "Accept, *")], false),
            (404, [("Cache-Control", "max-age=60")], false), (206, [("Cache-Control", "max-age=60")], false),
            (301, [("Cache-Control", "max-age=60")], false),
        ] as [(Int, [(String, String)], Bool)])
    func storing(status: Int, headers: [(String, String)], isStored: Bool) {
        #expect((stored(headers, status: status) != nil) == isStored)
    }

    @Test("A redirected answer, and one to a request that forbids it, are not stored")
    func notStored() {
        let head = ResponseHead(
            status: 200, headers: [HeaderField("Cache-Control", "max-age=9")], effectiveURL: "https://a.example/c")
        let body = [UInt8](repeating: 1, count: 16)
        #expect(CachedResponse(storing: head, of: request(), body: body, requested: 1, received: 1) == nil)
        #expect(
            stored(
                [("Cache-Control", "max-age=9")],
                request: request("https://a.example/b", [("Cache-Control", "no-store")])) == nil)
    }

    @Test("A part is stored when it is the one that was asked for")
    func part() {
        let range = ByteRange(from: 10, upTo: 20)
        for (field, isStored) in [
            ("bytes 10-19/100", true), ("bytes 10-18/100", false), ("bytes 11-19/100", false), ("bytes 10-19/*", true),
            ("bytes 10-", false), ("bytes -/", false), ("bytes */100", false),
        ] {
            let headers = [("Cache-Control", "max-age=9"), ("Content-Range", field)]
            #expect((stored(headers, request: request(range: range), status: 206) != nil) == isStored)
        }
        #expect(stored([("ETag", "\"1\"")], request: request(range: range)) == nil)
    }

    @Test("Vary: the same fields, or another response")
    func vary() throws {
        let asked = request("https://a.example/b", [("Accept-Language", "de")])
        let response = try #require(
            complete([("Cache-Control", "max-age=60"), ("Vary", "accept-language, X-Other")], request: asked))
        #expect(CacheDecision(asked, stored: response, at: at(0)) == .serve)
        for headers in [[("Accept-Language", "en")], [], [("Accept-Language", "de"), ("X-Other", "1")]] {
            #expect(CacheDecision(request("https://a.example/b", headers), stored: response, at: at(0)) == .fetch)
        }
    }

    @Test("Vary: a credential is in no row, and selects all the same")
    func secretOfVary() throws {
        let asked = request("https://a.example/b", [("Authorization", "Bearer s3cr3t"), ("Cookie", "id=c00k1e")])
        let stored = try #require(
            complete([("Cache-Control", "max-age=60"), ("Vary", "Authorization, Cookie")], request: asked))
        #expect(!stored.details.contains("s3cr3t") && !stored.details.contains("c00k1e"))
        let read = try #require(
            CachedResponse(
                key: stored.key.bytes, body: stored.body, details: stored.details, count: stored.count,
                isComplete: stored.isComplete))
        #expect(CacheDecision(asked, stored: read, at: at(0)) == .serve)
        let other = request("https://a.example/b", [("Authorization", "Bearer other"), ("Cookie", "id=c00k1e")])
        #expect(CacheDecision(other, stored: read, at: at(0)) == .fetch)
    }

    @Test(
        "A stale response is asked about, by its tag or its date, and may stand in for an error as long as it is said",
        arguments: [
            ("max-age=60, stale-if-error=100", 160, true), ("max-age=60, stale-if-error=100", 161, false),
            ("max-age=60, stale-if-error=100, must-revalidate", 61, false), ("max-age=60", 61, false),
            ("no-cache, stale-if-error=100", 0, false),
        ] as [(String, Int64, Bool)])
    func revalidation(control: String, after: Int64, mayStandIn: Bool) throws {
        for (name, value, field) in [
            ("ETag", "W/\"1\"", "If-None-Match"), ("Last-Modified", Self.date, "If-Modified-Since"),
        ] {
            let response = try #require(complete([("Cache-Control", control), (name, value)]))
            let decision = CacheDecision(request(), stored: response, at: at(after))
            #expect(decision == .revalidate([HeaderField(field, value)], mayStandIn: mayStandIn))
        }
        // Without a validator, no conditional request is possible.
        if let response = complete([("Cache-Control", control)]) {
            #expect(CacheDecision(request(), stored: response, at: at(after)) == .fetch)
        }
    }

    @Test("While the time is not known, nothing is fresh, and what may stand in for an error still may")
    func unknownTime() throws {
        let response = try #require(
            complete([("Cache-Control", "max-age=60, stale-if-error=100"), ("ETag", "\"1\"")]))
        let decision = CacheDecision(request(), stored: response, at: at(-5000, isProved: false))
        #expect(decision == .revalidate([HeaderField("If-None-Match", "\"1\"")], mayStandIn: true))
    }

    @Test(
        "The answer to the question",
        arguments: [
            (304, false, .holds), (200, true, .isReplaced), (404, true, .isReplaced), (503, true, .standsIn),
            (503, false, .passes), (nil, true, .standsIn), (nil, false, .passes), (501, true, .passes),
        ] as [(Int?, Bool, CacheDecision.Revalidation)])
    func answers(status: Int?, mayStandIn: Bool, expected: CacheDecision.Revalidation) throws {
        let response = try #require(complete([("ETag", "\"1\"")]))
        let answer = status.map { ResponseHead(status: $0, headers: [], effectiveURL: "") }
        #expect(CacheDecision.revalidation(answer, of: response, mayStandIn: mayStandIn) == expected)
    }

    private static let earlier = "Thu, 14 Jan 2027 08:00:00 GMT"

    @Test(
        "A 304 is for the stored response with its validator, and for no other (RFC 9111, 4.3.4)",
        arguments: [
            // A strong tag is the same, or not.
            ([("ETag", "\"1\"")], [("ETag", "\"1\"")], .holds),
            ([("ETag", "\"1\"")], [("ETag", "\"2\"")], .isOfAnother),
            ([("ETag", "W/\"1\"")], [("ETag", "\"1\"")], .isOfAnother),
            // A weak one may be of the same.
            ([("ETag", "W/\"1\"")], [("ETag", "W/\"1\"")], .holds),
            ([("ETag", "\"1\"")], [("ETag", "W/\"1\"")], .holds),
            ([("ETag", "W/\"1\"")], [("ETag", "W/\"2\"")], .isOfAnother),
            // The answer has no other fields.
            ([("ETag", "\"1\"")], [], .holds), ([("Last-Modified", earlier)], [], .holds),
            ([("ETag", "\"1\"")], [("Last-Modified", earlier)], .holds),
            // The date counts where a tag cannot be compared.
            ([("Last-Modified", earlier)], [("Last-Modified", earlier)], .holds),
            ([("Last-Modified", earlier)], [("Last-Modified", date)], .isOfAnother),
            ([("Last-Modified", earlier)], [("Last-Modified", earlier), ("ETag", "\"1\"")], .holds),
            ([("Last-Modified", earlier)], [("ETag", "\"1\"")], .isOfAnother),
            ([("ETag", "\"1\""), ("Last-Modified", earlier)], [("ETag", "\"1\""), ("Last-Modified", date)], .holds),
            (
                [("ETag", "\"1\""), ("Last-Modified", earlier)], [("ETag", "\"2\""), ("Last-Modified", earlier)],
                .isOfAnother
            ),
        ] as [([(String, String)], [(String, String)], CacheDecision.Revalidation)])
    func selection(headers: [(String, String)], answer: [(String, String)], expected: CacheDecision.Revalidation) throws
    {
        let response = try #require(complete(headers))
        let head = ResponseHead(
            status: 304, headers: answer.map { HeaderField($0.0, $0.1) }, effectiveURL: "")
        #expect(CacheDecision.revalidation(head, of: response, mayStandIn: true) == expected)
    }

    @Test("A part that has arrived is continued if it can be told from another version")
    func resuming() throws {
        for (headers, decision) in [
            ([("ETag", "\"1\"")], .resume(from: 65_536, ifSame: "\"1\"")),
            ([("ETag", "W/\"1\"")], .fetch), ([("Cache-Control", "max-age=9")], .fetch),
        ] as [([(String, String)], CacheDecision)] {
            var response = try #require(stored(headers))
            response.count = 65_536
            #expect(CacheDecision(request(), stored: response, at: at(0)) == decision)
            #expect(CacheDecision(request(range: ByteRange(from: 5)), stored: response, at: at(0)) == .pass)
        }
    }

    @Test("The rest of a whole body comes from it; without one the request passes and nothing is stored")
    func rest() throws {
        let response = try #require(complete([("Cache-Control", "max-age=60")]))
        let rest = request(range: ByteRange(from: 50))
        #expect(CacheDecision(rest, stored: response, at: at(0)) == .serve)
        #expect(CacheDecision(rest, stored: nil, at: at(0)) == .pass)
        #expect(CacheDecision(request(), stored: nil, at: at(0)) == .fetch)
    }

    @Test("A request that wants a new answer gets one, and replaces what is stored")
    func noCache() throws {
        let response = try #require(complete([("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]))
        let forced = request("https://a.example/b", [("Cache-Control", "no-cache")])
        #expect(CacheDecision(forced, stored: response, at: at(0)) == .fetch)
        let secret = request("https://a.example/b", [("Cache-Control", "no-store")])
        #expect(CacheDecision(secret, stored: response, at: at(0)) == .pass)
    }

    @Test("A 304 renews the fields, but not those about the body")
    func renewed() throws {
        let response = try #require(
            complete([
                ("Cache-Control", "max-age=60"), ("ETag", "\"1\""), ("Content-Length", "100"), ("X-A", "old"),
            ]))
        let head = ResponseHead(
            status: 304,
            headers: [
                HeaderField("cache-control", "max-age=5"), HeaderField("Content-Length", "0"),
                HeaderField("X-A", "new"), HeaderField("Connection", "close"),
            ], effectiveURL: "")
        let fresh = response.refreshed(by: head, requested: Self.now + 100, received: Self.now + 101)
        #expect(fresh.value(of: "content-length") == "100" && fresh.value(of: "x-a") == "new")
        #expect(fresh.value(of: "connection") == nil && fresh.value(of: "etag") == "\"1\"")
        #expect(Freshness(fresh).isFresh(at: at(104)) && !Freshness(fresh).isFresh(at: at(106)))
    }

    @Test("A row reads back, and a damaged one is none")
    func rows() throws {
        var response = try #require(
            stored(
                [("ETag", "\"ü\u{1}\""), ("Vary", "Accept")], request: request("https://a.example/b", [("Accept", "x")])
            ))
        response.count = 5
        func read(_ details: String, body: [UInt8] = response.body, count: Int64 = 5) -> CachedResponse? {
            CachedResponse(key: response.key.bytes, body: body, details: details, count: count, isComplete: false)
        }
        #expect(read(response.details) == response)
        for damaged in ["", "{}", "[]", "{\"status\":200}", response.details.replacing("200", with: "500")] {
            #expect(read(damaged) == nil)
        }
        #expect(read(response.details, body: [1]) == nil && read(response.details, count: -1) == nil)
        #expect(CacheKey(bytes: [1]) == nil)
    }
}

@Suite("The cache: what makes two requests the same")
struct CacheKeyTests {
    private func key(
        _ url: String, _ scope: CacheScope? = .path, _ headers: [(String, String)] = [], range: ByteRange? = nil,
        _ method: TransferRequest.Method = .get
    ) -> CacheKey? {
        var request = TransferRequest(method, url: url, headers: headers.map { HeaderField($0.0, $0.1) }, range: range)
        request.cacheScope = scope
        return CacheKey(of: request)
    }

    @Test("Content is known by its path alone")
    func path() {
        let one = key("https://cdn1.example/a/b.mp4?token=1")
        #expect(one == key("https://cdn2.example:8443/a/b.mp4?token=2#x") && one != nil)
        #expect(one != key("https://cdn1.example/a/B.mp4") && one != key("https://cdn1.example/a/b.mp4/"))
        #expect(
            key("https://a.example") == key("https://b.example/?x")
                && key("https://a.example?x=/y") == key("https://b.example/"))
    }

    @Test("A path of one product is another one than the same path of another product")
    func spaces() {
        var request = TransferRequest(url: "https://a.example/c/get?id=1")
        request.cacheScope = .path
        let none = CacheKey(of: request)
        request.cacheSpace = "1"
        let one = CacheKey(of: request)
        request.url = "https://b.example/c/get?id=1&signature=2"
        #expect(CacheKey(of: request) == one && one != none && one != nil)
        request.cacheSpace = "2"
        #expect(CacheKey(of: request) != one)
    }

    @Test(
        "The paths of addresses",
        arguments: [
            ("https://a/b/c?d#e", "/b/c"), ("https://a", "/"), ("https://a?b/c", "/"), ("http://a:80/", "/"),
            ("/b?c", "/b"), ("https://a/b://c", "/b://c"), ("", "/"),
        ])
    func paths(url: String, path: String) {
        #expect(String(decoding: CacheKey.path(of: url), as: UTF8.self) == path)
    }

    @Test("An answer of the service is known by its whole address, and by who asks")
    func address() {
        let one = key("https://a.example/p?q=1", .wholeAddress, [("Authorization", "Bearer 1")])
        #expect(one == key("https://a.example/p?q=1#f", .wholeAddress, [("authorization", "Bearer 1"), ("X", "y")]))
        #expect(one != key("https://a.example/p?q=2", .wholeAddress, [("Authorization", "Bearer 1")]))
        #expect(one != key("https://a.example/p?q=1", .wholeAddress, [("Authorization", "Bearer 2")]))
        #expect(one != key("https://a.example/p?q=1", .wholeAddress) && one != key("https://a.example/p", .path))
    }

    @Test("A part with an end is a resource of its own, one without an end belongs to the whole")
    func parts() {
        let whole = key("https://a.example/b")
        #expect(key("https://a.example/b", range: ByteRange(from: 9)) == whole)
        #expect(key("https://a.example/b", range: ByteRange(from: 0, upTo: 9)) != whole)
        #expect(
            key("https://a.example/b", range: ByteRange(from: 0, upTo: 9))
                != key("https://a.example/b", range: ByteRange(from: 0, upTo: 10)))
    }

    @Test("No scope, another method, or a condition of its own: none")
    func none() {
        #expect(key("https://a.example/b", nil) == nil && key("https://a.example/b", .path, [], .head) == nil)
        for name in ["If-Range", "if-none-match", "If-Modified-Since", "Range"] {
            #expect(key("https://a.example/b", .path, [(name, "x")]) == nil)
        }
    }
}
