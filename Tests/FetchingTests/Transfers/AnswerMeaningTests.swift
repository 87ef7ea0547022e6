import Network
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("The meaning of an answer's head (docs/playback.md, 15.4)")
struct AnswerMeaningTests {
    /// A request, and the meaning of an answer to it.
    struct Row: CustomTestStringConvertible {
        var name: String
        var range: ByteRange?
        var offset: Int64 = 0
        var version = ResourceVersion()
        /// The head of the answer that has begun the bytes, and how many have arrived; nil before the first byte.
        var former: (head: [String], arrived: Int)?
        var isReadInParts = false
        var isContinuation = false
        var isWhole = false
        var isElsewhere = false
        var isPost = false
        var status: Int
        var head: [String] = []
        var meaning: AnswerMeaning

        var testDescription: String { name }

        var bytes: RequestedBytes {
            var request = TransferRequest(url: "https://a/b", range: range)
            request.isReadInParts = isReadInParts
            if isPost { request.method = .post(body: [1], contentType: "application/json") }
            var bytes = RequestedBytes(request, from: offset, of: version, isContinuation: isContinuation)
            if let former {
                bytes.begin(ResponseHead(script: 200, former.head))
                bytes.arrive(former.arrived)
            }
            if isWhole { bytes.requestWhole() }
            if isElsewhere { bytes.mixHosts() }
            return bytes
        }
    }

    private static let part = ByteRange(from: 20, upTo: 60)
    private static let v1 = ResourceVersion(validator: "\"v1\"")
    private static let ten = ResourceVersion(ResponseHead(script: 200, ["Content-Length: 10"]))

    private static let rows = [
        Row(
            name: "the whole instead of the rest of stored bytes", offset: 30, version: v1, isContinuation: true,
            status: 200, head: ["ETag: \"v1\""], meaning: .changed),
        Row(
            name: "the whole instead of the rest of read bytes", offset: 30, version: v1, status: 200,
            head: ["ETag: \"v1\""], meaning: .content(skip: 30)),
        Row(name: "the whole", status: 200, meaning: .content(skip: 0)),
        Row(name: "what a POST has made: a license", isPost: true, status: 201, meaning: .content(skip: 0)),
        Row(name: "nothing that was made", status: 201, meaning: .refusal),
        Row(name: "a POST without an answer", isPost: true, status: 202, meaning: .refusal),
        Row(name: "a POST without content", isPost: true, status: 204, meaning: .refusal),
        Row(name: "the whole, from a cache on the way", status: 203, meaning: .content(skip: 0)),
        Row(name: "the whole instead of a part", range: part, status: 200, meaning: .content(skip: 20)),
        Row(name: "the whole instead of the rest", former: ([], 30), status: 200, meaning: .content(skip: 30)),
        Row(
            name: "the whole of the wanted version", version: v1, status: 200, head: ["ETag: \"v1\""],
            meaning: .content(skip: 0)),
        Row(name: "the whole without the wanted tag", version: v1, status: 200, meaning: .content(skip: 0)),
        Row(name: "the whole of another version", version: v1, status: 200, head: ["ETag: \"v2\""], meaning: .changed),
        Row(
            name: "the whole of another length", version: ten, status: 200, head: ["Content-Length: 11"],
            meaning: .changed),
        Row(
            name: "the rest of an answer with a tag has that tag", former: (["ETag: \"v1\""], 30), status: 206,
            head: ["Content-Range: bytes 30-99/100", "ETag: \"v1\""], meaning: .content(skip: 0)),
        Row(
            name: "the rest without the tag", former: (["ETag: \"v1\""], 30), status: 206,
            head: ["Content-Range: bytes 30-99/100"], meaning: .changed),
        Row(
            name: "the rest with another tag", former: (["ETag: \"v1\""], 30), status: 206,
            head: ["Content-Range: bytes 30-99/100", "ETag: \"v2\""], meaning: .changed),
        Row(
            name: "the rest of a weak tag is compared by its length",
            former: (["ETag: W/\"1\"", "Content-Length: 100"], 30),
            status: 206, head: ["Content-Range: bytes 30-99/100", "ETag: W/\"2\""], meaning: .content(skip: 0)),
        Row(
            name: "the rest of another length", former: (["Content-Length: 100"], 30), status: 206,
            head: ["Content-Range: bytes 30-119/120"], meaning: .changed),
        Row(
            name: "the rest from another host has its tag", former: (["ETag: \"v1\""], 30), isElsewhere: true,
            status: 206,
            head: ["Content-Range: bytes 30-99/100", "ETag: \"v2\""], meaning: .content(skip: 0)),
        Row(
            name: "the rest from another host of another length", former: (["Content-Length: 100"], 30),
            isElsewhere: true, status: 206, head: ["Content-Range: bytes 30-119/120"], meaning: .changed),
        Row(
            name: "the part", range: part, status: 206, head: ["Content-Range: bytes 20-59/100"],
            meaning: .content(skip: 0)),
        Row(
            name: "the part of an offset", range: part, offset: 10, status: 206,
            head: ["Content-Range: bytes 30-59/100"],
            meaning: .content(skip: 0)),
        Row(
            name: "a part that begins earlier", range: part, status: 206, head: ["Content-Range: bytes 19-59/100"],
            meaning: .otherPart),
        Row(name: "a part that does not name its first byte", range: part, status: 206, meaning: .otherPart),
        Row(
            name: "a part that begins later", range: part, status: 206, head: ["Content-Range: bytes 21-59/100"],
            meaning: .refusal),
        Row(
            name: "an earlier part of another version", range: part, version: v1, status: 206,
            head: ["Content-Range: bytes 0-59/100", "ETag: \"v2\""], meaning: .changed),
        Row(name: "a part instead of the whole", range: part, isWhole: true, status: 206, meaning: .refusal),
        Row(
            name: "the part instead of the whole", range: part, isWhole: true, status: 206,
            head: ["Content-Range: bytes 20-59/100"], meaning: .refusal),
        Row(
            name: "a page in place of the wanted version", version: v1, status: 200,
            head: ["Content-Type: Text/HTML; charset=utf-8", "ETag: \"v2\""], meaning: .refusal),
        Row(
            name: "a page in place of the rest", former: (["ETag: \"v1\""], 30), status: 200,
            head: ["Content-Type: text/html"], meaning: .refusal),
        Row(
            name: "a page in place of the rest of stored bytes", offset: 30, version: v1, isContinuation: true,
            status: 203, head: ["Content-Type: text/html"], meaning: .refusal),
        Row(
            name: "JSON in place of the rest", former: (["Content-Length: 100"], 30), status: 200,
            head: ["Content-Type: application/problem+json", "Content-Length: 40"], meaning: .refusal),
        Row(
            name: "text in place of the wanted version", version: ten, isReadInParts: true, status: 200,
            head: ["Content-Type: text/plain", "Content-Length: 40"], meaning: .refusal),
        Row(
            name: "XML in place of a part of the wanted version", range: part, version: ten, status: 200,
            head: ["Content-Type: Application/XML;charset=utf-8", "Content-Length: 40"], meaning: .refusal),
        Row(
            name: "another version that is audio", version: ten, status: 200,
            head: ["Content-Type: audio/mp4", "Content-Length: 40"], meaning: .changed),
        Row(name: "no rest of a file", offset: 30, isReadInParts: true, status: 416, meaning: .empty),
        Row(name: "no rest of a body that may be coded", offset: 30, status: 416, meaning: .otherPart),
        Row(name: "the same, once", offset: 30, isWhole: true, status: 416, meaning: .empty),
        Row(name: "no rest after the wanted length", offset: 30, version: ten, status: 416, meaning: .empty),
        Row(name: "no rest inside the wanted length", offset: 9, version: ten, status: 416, meaning: .changed),
        Row(name: "no range that an index names", range: part, status: 416, meaning: .refusal),
        Row(name: "no whole", status: 416, meaning: .refusal),
        Row(name: "no rest after bytes", former: (["Content-Length: 100"], 30), status: 416, meaning: .refusal),
        Row(
            name: "no rest after bytes that may be coded", former: ([], 30), status: 416, meaning: .otherPart),
        Row(name: "no content", status: 204, meaning: .refusal),
        Row(name: "an unfollowed redirect", status: 304, meaning: .refusal),
        Row(name: "a refusal", status: 404, meaning: .refusal),
        Row(name: "a failure", status: 503, meaning: .refusal),
    ]

    @Test("Each status", arguments: rows)
    func meaning(row: Row) {
        #expect(row.bytes.meaning(of: ResponseHead(script: row.status, row.head)) == row.meaning)
    }

    @Test("No other status comes with the resource: nothing has changed, and nothing is empty", arguments: 100...599)
    func others(status: Int) {
        guard ![200, 203, 206, 416].contains(status) else { return }
        let situations = [
            Row(name: "whole", status: status, meaning: .refusal),
            Row(name: "part", range: Self.part, status: status, meaning: .refusal),
            Row(name: "rest", offset: 30, version: Self.ten, isReadInParts: true, status: status, meaning: .refusal),
            Row(name: "stored", offset: 30, version: Self.v1, isContinuation: true, status: status, meaning: .refusal),
            Row(name: "retry", former: (["ETag: \"v1\""], 30), status: status, meaning: .refusal),
        ]
        for row in situations { meaning(row: row) }
    }

    @Test(
        "The announcement of an answer is compared with the request",
        arguments: [
            (part, 200, [], false, true), (part, 200, ["Content-Length: 60"], false, false),
            (part, 200, ["Content-Length: 61"], false, true), (nil, 200, [], false, false),
            (part, 206, ["Content-Range: bytes 20-59/100"], false, false),
            (part, 206, ["Content-Range: bytes 20-58/100"], true, false),
            (part, 206, ["Content-Range: bytes 20-49/50"], false, false),
            (part, 206, ["Content-Range: bytes 20-49/*"], false, false),
            (part, 206, ["Content-Range: bytes 20-60/100"], false, true),
            (nil, 206, ["Content-Range: bytes 0-9/100"], true, false),
        ] as [(ByteRange?, Int, [String], Bool, Bool)])
    func length(range: ByteRange?, status: Int, head: [String], isShort: Bool, isLong: Bool) {
        let answer = ContentAnswer(ResponseHead(script: status, head), skip: 0, of: range)
        #expect(answer.isShort == isShort && answer.isLong == isLong)
        #expect(answer.isCut == (status == 206))
    }

    @Test(
        "Text is no part of media, in the beginning of the resource or of the range; other bytes are",
        arguments: [
            ("{\"error\": 1}", true), ("[1, 2, 3]", true), ("Not found here.", true), ("  <Error/>", true),
            ("{\"e\":\"größer\"}", true), ("short", false), ("grö\u{DF}er wird es", false),
            ("\0\0\0\u{18}ftypiso5", false),
            ("ID3\u{4}\0\0\0\0\0", false), ("OggS\0\u{2}\0\0", false), ("fLaC\0\0\0\"", false),
            ("G@\0\u{10}\0\0\0\0", false),
        ])
    func text(body: String, isText: Bool) {
        for (range, head, isFirst) in [
            (nil, ["Content-Length: 9"], true), (Self.part, ["Content-Range: bytes 20-59/100"], true),
            (Self.part, [], true), (Self.part, ["Content-Range: bytes 30-59/100"], false),
        ] as [(ByteRange?, [String], Bool)] {
            for isMedia in [true, false] {
                let status = head.first?.contains("Range") == true ? 206 : 200
                var answer = ContentAnswer(
                    ResponseHead(script: status, head), skip: 0, of: range, isMedia: isMedia)
                let found = Array(body.utf8).withUnsafeBytes { answer.isPage($0) }
                #expect(found == (isText && isMedia && isFirst), "\(body) \(head) \(isMedia)")
            }
        }
    }

    @Test(
        "Bytes before and after the wanted ones are passed over",
        arguments: [1, 7, 100])
    func wanted(size: Int) {
        var answer = ContentAnswer(ResponseHead(script: 200, []), skip: 20, of: Self.part)
        var (taken, missing): (Int, Int64) = (0, 40)
        for start in stride(from: 0, to: 100, by: size) {
            let count = min(size, 100 - start)
            let wanted = answer.wanted(of: count, missing: missing)
            guard !wanted.isEmpty else { continue }
            #expect(start + wanted.lowerBound == 20 + taken)
            answer.arrive(count)
            taken += wanted.count
            missing -= Int64(wanted.count)
        }
        #expect(taken == 40 && missing == 0)
    }
}
