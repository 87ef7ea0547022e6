import Media
import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("A resource of the service, with its retries")
struct ResourceTransferTests: TransferSuite {
    let network = ScriptedNetwork()
    let received = RecordedResource()

    @Test("It arrives")
    func arrives() {
        _ = begin()
        network.last.begin(200, [("Content-Length", "100")])
        network.last.deliver(Array(content[..<40]))
        network.last.deliver(Array(content[40...]))
        #expect(received.ends.isEmpty)
        network.last.end()
        #expect(received.bytes == content && received.length == 100 && received.ends == [nil])
        #expect(network.delays.isEmpty)
    }

    @Test("5XX and 429: three retries, then it is refused", arguments: [500, 503, 429, 599])
    func serverFails(status: Int) {
        _ = begin()
        for delay in [500, 1000, 2000] as [Int64] {
            network.last.answer(status, [], Array("{\"subStatus\": 999}".utf8))
            #expect(network.delays == [delay])
            #expect(received.ends.isEmpty)
            network.passDelays()
        }
        network.last.answer(status, [], Array("{\"subStatus\": 999}".utf8))
        #expect(network.transfers.count == 4)
        #expect(received.ends == [.refused(ServiceRefusal(status: status, body: Array("{\"subStatus\": 999}".utf8)))])
        #expect(network.transfers.allSatisfy { $0.request.url == "https://a/b" && $0.request.range == nil })
    }

    @Test("A server whose first byte comes late gets twice as long each time, up to two minutes, and then is heard")
    func lateFirstByte() {
        _ = begin()
        var asked: [Int?] = []
        for _ in 0..<5 {
            asked.append(network.last.request.firstByteTimeout)
            network.last.end(.timeOut(.firstByte))
            network.passDelays()
        }
        #expect(asked == [nil, 40_000, 80_000, 120_000, 120_000])
        // Another failure does not change the timeout.
        network.last.end(.connection(.lost))
        network.passDelays()
        #expect(network.last.request.firstByteTimeout == 120_000)
        network.last.begin(200, [("Content-Length", "100")])
        network.last.deliver(content)
        network.last.end()
        #expect(received.bytes == content && received.ends == [nil])
    }

    @Test("Offlining: nine retries")
    func offlining() {
        _ = begin(nil, .offlining)
        for _ in 0..<9 {
            network.last.answer(503)
            network.passDelays()
        }
        #expect(received.ends.isEmpty)
        network.last.answer(503)
        #expect(network.transfers.count == 10 && received.ends.count == 1)
    }

    @Test("Retry-After")
    func retryAfter() {
        _ = begin()
        network.last.answer(503, [("Retry-After", "9")])
        #expect(network.delays == [9000])
        network.passDelays()
        network.last.answer(
            503, [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:49:57 GMT")])
        #expect(network.delays == [20_000])
    }

    @Test("A missing or changed resource ends at the head: its body is not waited for")
    func endsAtItsHead() {
        _ = begin()
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.begin(200, [("ETag", "\"v2\"")])
        #expect(received.ends == [.changed] && network.last.isCancelled)
    }

    @Test("One that has ended by its head is not repeated when its connection is lost before it is cancelled")
    func lostBehindItsHead() {
        let former = ResourceVersion(validator: "\"v1\"")
        _ = ResourceTransfer(TransferRequest(url: "https://a/b"), of: former, over: network, into: received)
        network.last.begin(200, [("ETag", "\"v2\"")])
        network.last.end(.connection(.lost))
        network.passDelays()
        #expect(received.ends == [.changed] && network.transfers.count == 1)
    }

    @Test("The rest of a body that is coded does not come: the whole is asked for, and what is there is passed over")
    func coded() {
        let refusals: [(ScriptedNetwork.Ongoing) -> Void] = [
            { $0.end(.coding(.ofPart(coding: "gzip"))) }, { $0.answer(416) },
        ]
        for refusal in refusals {
            (received.bytes, received.ends) = ([], [])
            _ = ResourceTransfer(TransferRequest(url: "https://a/b"), from: 30, over: network, into: received)
            #expect(network.last.request.range == ByteRange(from: 30))
            refusal(network.last)
            #expect(network.last.request.range == nil && !network.last.request.isReadInParts)
            network.last.answer(200, [], content)
            #expect(received.bytes == Array(content[30...]) && received.ends == [nil])
        }
        // Not for a part that a manifest names, or for a file that is read by ranges.
        var request = TransferRequest(url: "https://a/b", range: ByteRange(from: 20, upTo: 60))
        for _ in 0..<2 {
            received.ends = []
            _ = ResourceTransfer(request, over: network, into: received)
            network.last.end(.coding(.ofPart(coding: "gzip")))
            #expect(received.ends == [.transfer(.coding(.ofPart(coding: "gzip")))])
            (request.range, request.isReadInParts) = (nil, true)
        }
    }

    @Test("An answer that is made for each request starts over: two halves of two answers are none")
    func startsOver() {
        let transfer = ResourceTransfer(
            TransferRequest(url: "https://a/b"), over: network, continues: false, into: received)
        network.last.begin(200, [("Content-Length", "100")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.truncated)
        network.passDelays()
        #expect(network.last.request.range == nil)
        received.bytes = []
        network.last.answer(200, [], Array(content.reversed()))
        #expect(received.beginnings == 2 && received.bytes == content.reversed() && received.ends == [nil])
        withExtendedLifetime(transfer) {}
    }

    @Test("Another link ends the wait after a network failure, and the delays start over")
    func linkChange() {
        _ = begin()
        for delay in [500, 1000, 2000] as [Int64] {
            network.last.end(.connection(.lost))
            #expect(network.linkWaits == [delay])
            if delay < 2000 { network.passDelays() }
        }
        network.changeLink()
        #expect(network.transfers.count == 4)
        network.last.end(.connection(.lost))
        #expect(network.linkWaits == [500])
    }

    @Test("Another link does not end the wait that a server asks for")
    func linkChangeWithServerError() {
        _ = begin()
        network.last.answer(503, [("Retry-After", "9")])
        network.changeLink()
        #expect(network.transfers.count == 1 && received.ends.isEmpty)
    }

    @Test("A handshake that cannot succeed is an error at once")
    func finalHandshake() {
        _ = begin()
        let error = TransferError.tls(.handshake(reason: "x", isFinal: true))
        network.last.end(error)
        #expect(received.ends == [.transfer(error)] && network.delays.isEmpty)
    }

    @Test("4XX is never repeated", arguments: [400, 401, 403, 404, 410, 451])
    func refused(status: Int) {
        _ = begin()
        network.last.answer(status)
        #expect(network.transfers.count == 1 && network.delays.isEmpty)
        #expect(received.ends == [.refused(ServiceRefusal(status: status))])
    }

    @Test(
        "The network fails: it is repeated until it is there",
        arguments: [
            TransferError.nameResolution, .connection(.refused), .connection(.lost), .timeOut(.firstByte), .truncated,
            .proxy(status: 502), .tls(.handshake(reason: "")),
        ])
    func networkFails(error: TransferError) {
        _ = begin()
        for _ in 0..<50 {
            network.last.end(error)
            network.passDelays()
        }
        #expect(received.ends.isEmpty && network.transfers.count == 51)
        network.last.answer(200, [], content)
        #expect(received.bytes == content && received.ends == [nil])
    }

    @Test(
        "A refusal that waiting does not change is an error at once",
        arguments: [
            TransferError.tls(.hostName), .tls(.unknownAuthority), .tls(.expired), .tls(.notYetValid), .tls(.pin),
            .proxy(status: 407), .redirect(.insecure), .malformedAnswer, .headTooLarge, .invalidRequest(.url),
        ])
    func hopeless(error: TransferError) {
        _ = begin()
        network.last.end(error)
        #expect(received.ends == [.transfer(error)] && network.delays.isEmpty)
    }

    @Test("A retry continues behind the last byte, if it is still the same resource")
    func continues() {
        _ = begin()
        network.last.begin(200, [("Content-Length", "100"), ("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        #expect(network.last.request.range == ByteRange(from: 30))
        #expect(network.last.request.headers.contains { $0.name == "If-Range" && $0.value == "\"v1\"" })
        network.last.begin(206, [("Content-Range", "bytes 30-99/100"), ("ETag", "\"v1\"")])
        network.last.deliver(Array(content[30..<60]))
        network.last.end(.truncated)
        network.passDelays()
        #expect(network.last.request.range == ByteRange(from: 60))
        network.last.answer(206, [("Content-Range", "bytes 60-99/100"), ("ETag", "\"v1\"")], Array(content[60...]))
        #expect(received.bytes == content && received.ends == [nil] && received.length == 100)
    }

    @Test("Progress makes the delays short again")
    func progress() {
        _ = begin()
        for _ in 0..<3 {
            network.last.end(.connection(.refused))
            network.passDelays()
        }
        network.last.begin(200)
        network.last.deliver([1])
        network.last.end(.connection(.lost))
        #expect(network.delays == [500])
    }

    @Test("A server without ranges sends it all again: what has arrived is passed over", arguments: [1, 7, 100])
    func withoutRanges(piece: Int) {
        _ = begin()
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.begin(200, [("ETag", "\"v1\"")])
        for start in stride(from: 0, to: 100, by: piece) {
            network.last.deliver(Array(content[start..<min(100, start + piece)]))
        }
        network.last.end()
        #expect(received.bytes == content && received.ends == [nil])
    }

    @Test(
        "Another version is not mixed with the first one",
        arguments: [
            (200, [("ETag", "\"v2\"")]), (200, []), (206, [("ETag", "\"v2\""), ("Content-Range", "bytes 30-99/100")]),
        ] as [(Int, [(String, String)])])
    func changed(status: Int, headers: [(String, String)]) {
        _ = begin()
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.answer(status, headers, content)
        #expect(received.bytes == Array(content[..<30]) && received.ends == [.changed])
    }

    @Test("A later part of the same version is refused, and not taken for the rest")
    func laterPart() {
        _ = begin()
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.answer(206, [("ETag", "\"v1\""), ("Content-Range", "bytes 31-99/100")], content)
        #expect(received.bytes == Array(content[..<30]))
        #expect(received.ends == [.refused(ServiceRefusal(status: 206, body: []))])
    }

    @Test("Without a tag and a date the length says that it is another version")
    func otherLength() {
        _ = begin()
        network.last.begin(200, [("Content-Length", "100")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.answer(206, [("Content-Range", "bytes 30-119/120")], content)
        #expect(received.bytes == Array(content[..<30]) && received.ends == [.changed])
    }

    @Test("Cancelled while it runs, while it waits, and after its end: it ends once")
    func cancelled() {
        let running = begin()
        running.cancel()
        #expect(received.ends == [.cancelled])
        received.ends = []
        let waiting = begin()
        network.last.end(.connection(.lost))
        waiting.cancel()
        network.passDelays()
        #expect(received.ends == [.cancelled] && network.transfers.count == 2)
        received.ends = []
        let over = begin()
        network.last.answer(200, [], content)
        over.cancel()
        network.passDelays()
        #expect(received.ends == [nil])
    }
}
