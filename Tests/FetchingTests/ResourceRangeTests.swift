import Media
import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("A range of a resource, and an answer with less or more than that")
struct ResourceRangeTests: TransferSuite {
    let network = ScriptedNetwork()
    let received = RecordedResource()

    @Test("A range of an index behind the end of the file, or an answer without content, is refused")
    func nothingThere() {
        for status in [416, 204] {
            received.ends = []
            _ = begin(ByteRange(from: 200, upTo: 260))
            network.last.answer(status)
            #expect(received.ends == [.refused(ServiceRefusal(status: status, body: []))])
        }
    }

    @Test("A part that is shorter than it says is continued")
    func shortPart() {
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.answer(206, [("Content-Range", "bytes 20-59/100")], Array(content[20..<40]))
        network.passDelays()
        #expect(network.last.request.range == ByteRange(from: 40, upTo: 60))
        network.last.answer(206, [("Content-Range", "bytes 40-59/100")], Array(content[40..<60]))
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil])
    }

    @Test("A part that is shorter than what was asked for is followed by the next one at once")
    func shorterParts() {
        _ = begin(ByteRange(from: 20, upTo: 60))
        for start in [20, 30, 40, 50] {
            #expect(network.last.request.range == ByteRange(from: Int64(start), upTo: 60))
            network.last.answer(
                206, [("Content-Range", "bytes \(start)-\(start + 9)/100")], Array(content[start..<(start + 10)]))
        }
        #expect(network.delays.isEmpty && network.transfers.count == 4)
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil])
    }

    @Test("The rest after a first part without an end is asked for without a limit, at once")
    func firstPart() {
        var request = TransferRequest(url: "https://a/b")
        request.longestPart = 10
        _ = ResourceTransfer(request, from: 20, over: network, into: received)
        #expect(network.last.request.range == ByteRange(from: 20) && network.last.request.longestPart == 10)
        network.last.answer(206, [("Content-Range", "bytes 20-29/100")], Array(content[20..<30]))
        #expect(network.last.request.range == ByteRange(from: 30) && network.last.request.longestPart == nil)
        network.last.answer(206, [("Content-Range", "bytes 30-99/100")], Array(content[30...]))
        #expect(network.delays.isEmpty && received.bytes == Array(content[20...]) && received.ends == [nil])
    }

    @Test(
        "A part that begins earlier, or does not say where it begins: the whole is asked for, once",
        arguments: ["bytes 0-59/100", "bytes 19-59/100", nil, "items 20-59/100"])
    func otherPart(range: String?) {
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.begin(206, range.map { [("Content-Range", $0)] } ?? [])
        #expect(network.transfers.count == 2 && network.transfers[0].isCancelled && network.delays.isEmpty)
        #expect(network.last.request.range == nil)
        network.last.begin(200, [("Content-Length", "100")])
        network.last.deliver(content)
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil])
        // Not twice.
        (received.bytes, received.ends) = ([], [])
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.answer(206, [], content)
        network.last.answer(206, [], content)
        #expect(network.transfers.count == 4 && received.bytes.isEmpty)
        #expect(received.ends == [.refused(ServiceRefusal(status: 206, body: []))])
    }

    @Test("The same in the middle of a transfer: what has arrived is passed over")
    func otherPartLater() {
        _ = begin()
        network.last.begin(200, [("Content-Length", "100"), ("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.answer(206, [("Content-Range", "bytes 0-99/100"), ("ETag", "\"v1\"")], content)
        #expect(network.last.request.range == nil)
        #expect(!network.last.request.headers.contains { $0.isNamed("If-Range") })
        network.last.answer(200, [("Content-Length", "100"), ("ETag", "\"v1\"")], content)
        #expect(received.bytes == content && received.ends == [nil])
    }

    @Test("A range without bytes is complete at once, without a request")
    func emptyRange() {
        _ = begin(ByteRange(from: 20, upTo: 20))
        network.passDelays()
        #expect(received.bytes.isEmpty && received.ends == [nil] && network.transfers.isEmpty)
    }

    @Test("A range, and nothing behind it: the answer ends there, and is not cancelled")
    func range() {
        for (status, headers, body) in [
            (206, [("Content-Range", "bytes 20-59/100")], content[20..<60]),
            (200, [("Content-Length", "60")], content[..<60]),
        ] as [(Int, [(String, String)], ArraySlice<UInt8>)] {
            (received.bytes, received.ends) = ([], [])
            _ = begin(ByteRange(from: 20, upTo: 60))
            network.last.begin(status, headers)
            network.last.deliver(Array(body))
            #expect(received.ends.isEmpty)
            network.last.end()
            #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil])
            #expect(!network.last.isCancelled)
        }
    }

    @Test(
        "A range of a server that sends more: it ends with the last byte of the range, and the rest is not taken",
        arguments: [
            (200, [], 0), (200, [("Content-Length", "100")], 0), (203, [("ETag", "\"v1\"")], 0),
            (206, [("Content-Range", "bytes 20-99/100")], 20), (206, [("Content-Range", "bytes 20-99/*")], 20),
        ] as [(Int, [(String, String)], Int)], [1, 7, 60, 100])
    func longerThanTheRange(answer: (status: Int, headers: [(String, String)], start: Int), piece: Int) {
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.begin(answer.status, answer.headers)
        for start in stride(from: answer.start, to: 100, by: piece) {
            #expect(network.last.isCancelled == (start >= 60))
            network.last.deliver(Array(content[start..<min(100, start + piece)]))
        }
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil])
        #expect(network.last.isCancelled && network.transfers.count == 1)
    }

    @Test("The same when the connection was lost in the middle, and behind the last byte nothing is asked for")
    func longerAfterRetry() {
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<30]))
        network.last.end(.connection(.lost))
        network.passDelays()
        #expect(network.last.request.range == ByteRange(from: 30, upTo: 60))
        network.last.begin(200, [("ETag", "\"v1\"")])
        network.last.deliver(content)
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil] && network.last.isCancelled)
        (received.bytes, received.ends) = ([], [])
        _ = begin(ByteRange(from: 20, upTo: 60))
        network.last.begin(206, [("Content-Range", "bytes 20-59/100")])
        network.last.deliver(Array(content[20..<60]))
        network.last.end(.connection(.lost))
        #expect(received.bytes == Array(content[20..<60]) && received.ends == [nil] && network.delays.isEmpty)
    }
}
