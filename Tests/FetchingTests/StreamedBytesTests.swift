import Media
import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("The bytes of a resource")
struct StreamedBytesTests {
    private let network = ScriptedNetwork()
    private let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 4) }

    private func read(_ source: StreamedBytes, _ count: Int, at offset: Int64) throws -> (ByteRead, [UInt8]) {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: offset) }
        if case .bytes(let count) = read { return (read, Array(bytes[..<count])) }
        return (read, [])
    }

    @Test("Bytes that have arrived are read, then there is nothing yet, then the end")
    func arrives() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        #expect(source.length == nil)
        #expect(try read(source, 10, at: 0).0 == .notYet)
        network.last.begin(200, [("Content-Length", "20")])
        #expect(source.length == 20)
        let woken = Flag()
        source.whenReadable { woken.set() }
        #expect(!woken.isSet)
        network.last.deliver(Array(content[..<15]))
        #expect(woken.isSet)
        #expect(try read(source, 10, at: 0).1 == Array(content[..<10]))
        #expect(try read(source, 10, at: 10).1 == Array(content[10..<15]))
        #expect(try read(source, 10, at: 15).0 == .notYet)
        network.last.deliver(Array(content[15..<20]))
        network.last.end()
        #expect(try read(source, 10, at: 15).1 == Array(content[15..<20]))
        #expect(try read(source, 10, at: 20).0 == .end)
        #expect(try read(source, 10, at: .max).0 == .end)
        #expect(network.transfers.count == 1)
    }

    @Test("The server waits when enough is here, and goes on when half of it was read")
    func readAhead() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 100_000)
        network.last.begin(200, [("Content-Length", "5000000")])
        var delivered = 0
        while network.last.deliver(Array(content[delivered..<delivered + 10_000])) == .more { delivered += 10_000 }
        #expect(delivered == 100_000)
        var position = 0
        while network.last.resumes == 0 {
            let (_, bytes) = try read(source, 1000, at: Int64(position))
            #expect(bytes == Array(content[position..<position + 1000]))
            position += bytes.count
        }
        #expect(position == 52_000)
        #expect(network.last.deliver(Array(content[delivered..<delivered + 10_000])) == .more)
    }

    @Test("A seek beyond what comes soon, and one behind what was dropped, ask for that part")
    func seeks() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        network.last.begin(200, [("Content-Length", "5000000")])
        network.last.deliver(Array(content[..<1000]))
        #expect(try read(source, 10, at: 200_000).0 == .notYet)
        #expect(network.transfers.count == 1, "it is on its way")
        #expect(try read(source, 10, at: 3_000_000).0 == .notYet)
        #expect(network.transfers.count == 2)
        #expect(network.last.request.range == ByteRange(from: 3_000_000))
        network.last.begin(206, [("Content-Range", "bytes 3000000-4999999/5000000")])
        try stay(source, at: 3_000_000)
        #expect(network.transfers[0].isCancelled && !network.last.isCancelled)
        #expect(try read(source, 10, at: 0).0 == .notYet)
        #expect(network.last.request.range == nil)
        #expect(source.length == 5_000_000)
    }

    /// Reads on after a jump, until the jump counts as a seek and not as a short look.
    private func stay(_ source: StreamedBytes, at start: Int) throws {
        for place in stride(from: start, to: start + 200_000, by: 10_000) {
            network.last.deliver(Array(content[place..<place + 10_000]))
            #expect(try read(source, 10_000, at: Int64(place)).1 == Array(content[place..<place + 10_000]))
        }
    }

    @Test("A look at another place keeps what arrives: nothing is asked for twice")
    func look() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        network.last.begin(200, [("Content-Length", "5000000")])
        network.last.deliver(Array(content[..<1000]))
        #expect(try read(source, 10, at: 4_999_000).0 == .notYet)
        #expect(network.transfers[0].deliver(Array(content[1000..<2000])) == .enough, "the line is for the look")
        network.last.begin(206, [("Content-Range", "bytes 4999000-4999999/5000000")])
        network.last.deliver(Array(content[4_999_000...]))
        network.last.end()
        #expect(try read(source, 1000, at: 4_999_000).1 == Array(content[4_999_000...]))
        #expect(try read(source, 10, at: 5_000_000).0 == .end)
        #expect(try read(source, 1000, at: 0).1 == Array(content[..<1000]))
        #expect(network.transfers.count == 2 && network.transfers[0].resumes == 1)
        #expect(network.transfers[0].deliver(Array(content[1000..<2000])) == .more)
        #expect(try read(source, 1000, at: 1000).1 == Array(content[1000..<2000]))
    }

    private static let (date, before) = ("Fri, 15 Jan 2027 08:00:00 GMT", "Thu, 14 Jan 2027 08:00:00 GMT")

    /// A stream of which the beginning has arrived with these fields, and which is read elsewhere.
    private func sought(_ fields: [(String, String)], to offset: Int64 = 3_000_000) throws -> StreamedBytes {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        network.last.begin(200, fields)
        network.last.deliver(Array(content[..<1000]))
        #expect(try read(source, 10, at: 0).1 == Array(content[..<10]))
        #expect(try read(source, 10, at: offset).0 == .notYet)
        #expect(network.transfers.count == 2 && network.last.request.range == ByteRange(from: offset))
        return source
    }

    @Test(
        "A seek in content that was replaced meanwhile: bytes of two versions are not mixed",
        arguments: [
            ([("ETag", "\"1\"")], 206, [("ETag", "\"2\""), ("Content-Range", "bytes 3000000-4999999/5000000")]),
            ([("ETag", "\"1\"")], 206, [("ETag", "W/\"1\""), ("Content-Range", "bytes 3000000-4999999/5000000")]),
            ([("ETag", "\"1\"")], 200, [("ETag", "\"2\""), ("Content-Length", "5000000")]),
            (
                [("ETag", "\"1\""), ("Content-Length", "5000000")], 206,
                [("ETag", "\"1\""), ("Content-Range", "bytes 3000000-4999999/5000001")]
            ),
            // By the date of the last change, also while that is too recent to be a proof alone.
            (
                [("Last-Modified", before), ("Date", date)], 206,
                [("Last-Modified", date), ("Date", date), ("Content-Range", "bytes 3000000-4999999/5000000")]
            ),
            // By the length alone.
            ([("Content-Length", "5000000")], 206, [("Content-Range", "bytes 3000000-4999999/5000001")]),
            ([("Content-Length", "5000000")], 200, [("Content-Length", "4999999")]),
            ([("Content-Length", "5000000")], 416, [("Content-Range", "bytes */2000000")]),
        ] as [([(String, String)], Int, [(String, String)])])
    func soughtInAnother(fields: [(String, String)], status: Int, answer: [(String, String)]) throws {
        let source = try sought(fields)
        network.last.begin(status, answer)
        #expect(source.hasFailed && network.last.isCancelled)
        #expect(throws: ResourceFailure.changed.byteSourceError) { try read(source, 10, at: 3_000_000) }
        #expect(network.transfers.count == 2)
    }

    @Test(
        "A seek in the same content: what a server does not say is no difference",
        arguments: [
            ([("ETag", "\"1\"")], [("ETag", "\"1\""), ("Content-Range", "bytes 3000000-4999999/5000000")]),
            ([("ETag", "\"1\"")], [("Content-Range", "bytes 3000000-4999999/5000000")]),
            (
                [("ETag", "\"1\""), ("Content-Length", "5000000")],
                [("ETag", "\"1\""), ("Content-Range", "bytes 3000000-4999999/*")]
            ),
            ([("Content-Length", "5000000")], [("Content-Range", "bytes 3000000-4999999/5000000")]),
            ([], [("ETag", "\"1\""), ("Content-Range", "bytes 3000000-4999999/5000000")]),
            // A weak tag, and a date that is too recent, do not distinguish versions.
            ([("ETag", "W/\"1\"")], [("ETag", "W/\"2\""), ("Content-Range", "bytes 3000000-4999999/5000000")]),
            (
                [("Last-Modified", date), ("Date", date)],
                [("Last-Modified", date), ("Date", date), ("Content-Range", "bytes 3000000-4999999/5000000")]
            ),
        ] as [([(String, String)], [(String, String)])])
    func soughtInTheSame(fields: [(String, String)], answer: [(String, String)]) throws {
        let source = try sought(fields)
        network.last.begin(206, answer)
        network.last.deliver(Array(content[3_000_000..<3_000_100]))
        #expect(try read(source, 100, at: 3_000_000).1 == Array(content[3_000_000..<3_000_100]))
    }

    @Test("A range of a server that sends all and does not say how much: its length is known, and it ends there")
    func rangeOfAll() throws {
        let source = StreamedBytes(
            TransferRequest(url: "u", range: ByteRange(from: 1000, upTo: 3000)), over: network, readAhead: 1 << 20)
        #expect(source.length == 2000)
        network.last.begin(200)
        #expect(source.length == 2000)
        network.last.deliver(Array(content[..<10_000]))
        #expect(source.isComplete && !source.hasFailed && source.buffered == 2000)
        #expect(try read(source, 5000, at: 0).1 == Array(content[1000..<3000]))
        #expect(try read(source, 10, at: 2000).0 == .end)
        #expect(network.transfers.count == 1 && network.last.isCancelled)
    }

    @Test("A seek where the server sends all: what lies before is passed over")
    func soughtWithoutRanges() throws {
        let source = try sought([("ETag", "\"1\""), ("Content-Length", "5000000")], to: 300_000)
        network.last.begin(200, [("ETag", "\"1\""), ("Content-Length", "5000000")])
        network.last.deliver(Array(content[..<300_100]))
        #expect(try read(source, 100, at: 300_000).1 == Array(content[300_000..<300_100]))
    }

    @Test(
        "A version that the first answer does not have is taken from the second; later ones are compared with it")
    func soughtTwice() throws {
        let source = try sought([])
        network.last.begin(206, [("ETag", "\"1\""), ("Content-Range", "bytes 3000000-4999999/5000000")])
        #expect(source.length == 5_000_000)
        try stay(source, at: 3_000_000)
        #expect(try read(source, 10, at: 0).0 == .notYet)
        #expect(network.last.request.range == nil)
        network.last.begin(200, [("ETag", "\"2\""), ("Content-Length", "5000000")])
        #expect(throws: ResourceFailure.changed.byteSourceError) { try read(source, 10, at: 0) }
    }

    @Test("A transfer that was replaced before any byte of it had arrived counts with its last answer")
    func soughtAfterRetry() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        network.last.begin(200, [("ETag", "\"1\""), ("Content-Length", "4000000")])
        network.last.end(.connection(.lost))
        network.passDelays()
        network.last.begin(200, [("ETag", "\"2\""), ("Content-Length", "5000000")])
        network.last.deliver([1])
        #expect(source.length == 5_000_000)
        #expect(try read(source, 10, at: 3_000_000).0 == .notYet)
        network.last.begin(206, [("ETag", "\"2\""), ("Content-Range", "bytes 3000000-4999999/5000000")])
        #expect(!source.hasFailed)
    }

    @Test("Memory: what lies behind the reader is dropped")
    func drops() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 100_000)
        network.last.begin(200, [("Content-Length", "5000000")])
        var position = 0
        for start in stride(from: 0, to: 1_000_000, by: 10_000) {
            #expect(network.last.deliver(Array(content[start..<start + 10_000])) == .more)
            position += try read(source, 10_000, at: Int64(position)).1.count
        }
        #expect(position == 1_000_000)
        #expect(try read(source, 10, at: 950_000).1 == Array(content[950_000..<950_010]), "a little stays")
        #expect(network.transfers.count == 1)
        _ = try read(source, 10, at: 500_000)
        #expect(network.transfers.count == 2)
    }

    @Test("A refusal is the read's error, with its status; bytes before it can be read")
    func refused() throws {
        let source = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        network.last.begin(200, [("Content-Length", "100"), ("ETag", "\"v1\"")])
        network.last.deliver(Array(content[..<50]))
        network.last.end(.connection(.lost))
        #expect(try read(source, 100, at: 50).0 == .notYet)
        network.passDelays()
        network.last.answer(403)
        #expect(try read(source, 100, at: 20).1 == Array(content[20..<50]))
        #expect { try read(source, 100, at: 50) } throws: { error in
            (error as? ByteSourceError).map { MediaError.source($0).foreignStatus } == 403
        }
    }

    @Test("The end of the source ends its transfer")
    func ends() {
        var source: StreamedBytes? = StreamedBytes(TransferRequest(url: "u"), over: network, readAhead: 1 << 20)
        #expect(source?.length == nil)
        source = nil
        #expect(network.last.isCancelled)
    }
}

/// Set once, by the callback.
// @unchecked: used on the test's thread alone.
private final class Flag: @unchecked Sendable {
    private(set) var isSet = false
    func set() { isSet = true }
}
