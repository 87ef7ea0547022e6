import Platform
import Testing

@testable import HTTPServer

@Suite("Parts and conditions of requests (RFC 9110, 13 and 14)")
struct ServedResourceTests {
    @Test(
        "A range of 1000 bytes",
        arguments: [
            ("bytes=0-9", RequestedRange.part(0..<10)), ("bytes=990-", .part(990..<1000)),
            ("bytes=990-2000", .part(990..<1000)), ("bytes=-1", .part(999..<1000)), ("bytes=-5000", .part(0..<1000)),
            ("bytes=999-999", .part(999..<1000)), ("bytes=1000-", .outside), ("bytes=-0", .outside),
            ("bytes=9-0", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes=0-1,5-6", .whole),
            ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("lines=0-9", .whole),
            ("bytes=0-99999999999999999999", .whole),
        ])
    func range(header: String, expected: RequestedRange) {
        #expect(RequestedRange(header, of: 1000) == expected)
    }

    @Test(
        "The coding gzip is taken where the client names it, and not with the weight 0",
        arguments: [
            ("gzip", true), ("gzip, deflate, br", true), ("br;q=1.0, gzip;q=0.8", true),
            ("deflate,\tGZIP ; q=0.001", true),
            ("", false), ("identity", false), ("*", false), ("x-gzip", false), ("gzip;q=0", false),
            ("gzip; q=0.000, br", false), ("br;q=0, gzip", true),
        ])
    func coding(header: String, expected: Bool) {
        #expect(HTTPRequest(path: "/", headers: ["accept-encoding": header]).acceptsGzip == expected)
        #expect(!HTTPRequest(path: "/").acceptsGzip)
    }

    @Test("Of nothing there is no part")
    func emptyResource() { #expect(RequestedRange("bytes=-1", of: 0) == .outside) }

    private static let modified: Int64 = 784_111_777
    private let resource = ServedResource(
        body: ContentBody([.bytes(Array(0..<100)), .bytes(Array(100..<200))]), contentType: "audio/mp4",
        entityTag: "\"a\"", lastModified: modified, cacheControl: "private")

    @Test(
        "Requests and their answers",
        arguments: [
            ([:], 200), (["if-none-match": "\"a\""], 304), (["if-none-match": "\"b\", W/\"a\""], 304),
            (["if-none-match": "*"], 304), (["if-none-match": "\"b\""], 200),
            (["if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], 304),
            (["if-modified-since": "Sun, 06 Nov 1994 08:49:36 GMT"], 200),
            (["if-modified-since": "yesterday"], 200),
            // The entity tag counts alone when there are both.
            (["if-none-match": "\"b\"", "if-modified-since": "Sun, 06 Nov 1994 08:49:37 GMT"], 200),
            (["range": "bytes=0-9"], 206), (["range": "bytes=0-9", "if-range": "\"a\""], 206),
            (["range": "bytes=0-9", "if-range": "\"b\""], 200), (["range": "bytes=0-9", "if-range": "W/\"a\""], 200),
            (["range": "bytes=0-9", "if-range": "Sun, 06 Nov 1994 08:49:37 GMT"], 206),
            (["range": "bytes=0-9", "if-range": "Sun, 06 Nov 1994 08:49:38 GMT"], 200),
            (["range": "bytes=200-"], 416),
        ] as [([String: String], Int)])
    func answer(headers: [String: String], status: Int) {
        let answer = resource.answer(to: HTTPRequest(path: "/", headers: headers))
        #expect(answer.status == status)
        if status != 416 { #expect(answer["ETag"] == "\"a\"") }
        if status == 416 { #expect(answer["Content-Range"] == "bytes */200") }
        if status == 304 { #expect(answer.announcedLength == 200 && answer.body.count == 0) }
    }

    @Test("A part over the border of two pieces")
    func part() throws {
        let answer = resource.answer(to: HTTPRequest(path: "/", headers: ["range": "bytes=95-104"]))
        #expect(try answer.body.bytes() == Array(95..<105))
        #expect(answer["Content-Range"] == "bytes 95-104/200")
    }

    @Test("Dates", arguments: [0, 784_111_777, 951_782_400, 4_102_444_799])
    func dates(seconds: Int64) {
        #expect(HTTPDate.seconds(of: HTTPDate.text(seconds), now: 0) == seconds)
    }

    @Test("A date as the standard shows it")
    func date() { #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT") }

    @Test(
        "The address that the client used",
        arguments: [
            ("nas:7470", "http://nas:7470"), ("[::1]:80", "http://[::1]:80"), ("", nil), ("a\"b", nil), ("a/b", nil),
        ])
    func origin(host: String, expected: String?) {
        #expect(HTTPRequest(path: "/", headers: ["host": host]).origin == expected)
    }
}
