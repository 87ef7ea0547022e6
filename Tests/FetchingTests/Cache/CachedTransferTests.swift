import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("Transfers through the cache")
struct CachedTransferTests {
    private let fixture: CacheFixture
    private let network = PumpedNetwork()
    private let use = CacheUse.recording(mayReadAhead: { false })
    private let content: [UInt8] = {
        var generator = SeededRandom(7)
        return (0..<200_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }()
    private static let fields = [("Cache-Control", "max-age=60, stale-if-error=600"), ("ETag", "\"1\"")]

    init() throws { fixture = try CacheFixture() }

    private func request(_ url: String = "https://a.example/b?sign=1", from: Int64 = 0) -> TransferRequest {
        var request = TransferRequest(url: url, range: from > 0 ? ByteRange(from: from) : nil)
        request.cacheScope = .path
        return request
    }

    private func begin(_ request: TransferRequest? = nil, room: Int = .max) -> (CollectingSink, any OngoingTransfer) {
        let sink = CollectingSink()
        sink.room = room
        let caching = CachingNetwork(network, fixture.store, use, clock: fixture.clock) {
            SystemRandomSource().bytes(16)
        }
        return (sink, caching.begin(request ?? self.request(), into: sink))
    }

    /// Begins, and waits until the network is asked.
    private func asked(_ request: TransferRequest? = nil) -> (CollectingSink, any OngoingTransfer) {
        let count = network.transfers.count
        let begun = begin(request)
        network.run { network.transfers.count > count }
        return begun
    }

    private func deliver(_ bytes: some Sequence<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            network.last.deliver(Array(rest.prefix(10_000)))
            rest = rest.dropFirst(10_000)
        }
    }

    /// The content is in the cache.
    private func fill(_ fields: [(String, String)] = fields) {
        let (sink, _) = asked()
        network.last.begin(200, fields + [("Content-Length", "\(content.count)")])
        deliver(content)
        network.last.end()
        #expect(sink.bytes == content && sink.ends == [nil])
        fixture.settle()
    }

    /// Asks, and gets an answer from the cache alone.
    private func served(_ request: TransferRequest? = nil) -> CollectingSink {
        let count = network.transfers.count
        let (sink, _) = begin(request)
        network.run { !sink.ends.isEmpty || network.transfers.count > count }
        #expect(network.transfers.count == count)
        return sink
    }

    @Test("A fetched response is served, also after a restart and with another signature")
    func servedAgain() throws {
        fill()
        for isReopened in [false, true] {
            if isReopened { try fixture.reopen() }
            let sink = served(request("https://other.example/b?sign=2"))
            #expect(sink.bytes == content && sink.ends == [nil])
            #expect(sink.head?.status == 200 && sink.head?.contentLength == 200_000)
            #expect(sink.head?.value(of: "etag") == "\"1\"")
            #expect(sink.head?.effectiveURL == "https://other.example/b?sign=2")
        }
        // None of the content is readable on the medium.
        let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.onlyFile()))
        #expect(bytes.count > content.count && bytes.range(of: Data(content[1000..<1016])) == nil)
    }

    @Test("The rest of it as well", arguments: [1, 65_535, 65_536, 100_000, 199_999, 200_000, 300_000] as [Int64])
    func rest(from: Int64) {
        fill()
        let sink = served(request(from: from))
        if from < 200_000 {
            #expect(sink.head?.status == 206)
            #expect(sink.head?.value(of: "content-range") == "bytes \(from)-199999/200000")
        } else {
            #expect(sink.head?.status == 416)
        }
        #expect(sink.bytes == Array(content.dropFirst(Int(from))) && sink.ends == [nil])
    }

    @Test("An empty body")
    func empty() {
        let (sink, _) = asked()
        network.last.answer(200, Self.fields + [("Content-Length", "0")])
        #expect(sink.ends == [nil])
        fixture.settle()
        let again = served()
        #expect(again.bytes.isEmpty && again.ends == [nil] && again.head?.contentLength == 0)
    }

    @Test("A stale one is asked about: 304 renews it")
    func renewed() {
        fill()
        fixture.clock.time.seconds += 100
        let (sink, _) = asked()
        #expect(network.last.request.headers == [HeaderField("If-None-Match", "\"1\"")])
        network.last.answer(304, [("Cache-Control", "max-age=1000")])
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content && sink.head?.status == 200)
        fixture.clock.time.seconds += 900
        #expect(served().bytes == content)
    }

    @Test("A 304 for another version does not renew it: the request is repeated without the condition")
    func renewsAnother() {
        fill()
        fixture.clock.time.seconds += 100
        let (sink, _) = asked()
        network.last.answer(304, [("ETag", "\"2\""), ("Cache-Control", "max-age=1000")])
        network.run { network.transfers.count == 3 || !sink.ends.isEmpty }
        #expect(network.transfers.count == 3 && sink.bytes.isEmpty && sink.ends.isEmpty)
        #expect(network.last.request.headers.isEmpty)
        network.last.answer(
            200, [("ETag", "\"2\""), ("Content-Length", "3"), ("Cache-Control", "max-age=60")], [1, 2, 3])
        #expect(sink.bytes == [1, 2, 3] && sink.ends == [nil])
        fixture.settle()
        #expect(served().bytes == [1, 2, 3])
    }

    @Test("The rest of it as well, which replaces nothing")
    func renewsAnotherForItsRest() {
        fill()
        fixture.clock.time.seconds += 100
        let (sink, _) = asked(request(from: 150_000))
        network.last.answer(304, [("ETag", "\"2\"")])
        network.run { network.transfers.count == 3 || !sink.ends.isEmpty }
        #expect(network.last.request.range == ByteRange(from: 150_000) && network.last.request.headers.isEmpty)
        network.last.answer(206, [("ETag", "\"2\""), ("Content-Range", "bytes 150000-150002/150003")], [1, 2, 3])
        #expect(sink.head?.status == 206 && sink.bytes == [1, 2, 3] && sink.ends == [nil])
        fixture.settle()
        #expect(fixture.stored(request())?.value(of: "etag") == "\"1\"")
    }

    @Test("A server that answers without a condition as with one is not asked for ever")
    func neverRenews() {
        fill()
        fixture.clock.time.seconds += 100
        let (sink, _) = asked()
        network.last.answer(304, [("ETag", "\"2\"")])
        network.run { network.transfers.count == 3 || !sink.ends.isEmpty }
        network.last.answer(304, [("ETag", "\"2\"")])
        network.runScheduled()
        #expect(sink.head?.status == 304 && sink.bytes.isEmpty && sink.ends == [nil])
        #expect(network.transfers.count == 3)
    }

    @Test("Cancelled before it is repeated")
    func cancelledBeforeRepetition() {
        fill()
        fixture.clock.time.seconds += 100
        let (sink, transfer) = asked()
        network.last.begin(304, [("ETag", "\"2\"")])
        transfer.cancel()
        network.last.end()
        network.run { !sink.ends.isEmpty }
        network.runScheduled()
        #expect(sink.ends == [.cancelled] && network.transfers.count == 2)
    }

    @Test("A stream that goes back to what is stored of another version has changed")
    func storedRestOfAnother() throws {
        fill()
        let caching = CachingNetwork(network, fixture.store, use, clock: fixture.clock) {
            SystemRandomSource().bytes(16)
        }
        let source = StreamedBytes(request(), over: caching, readAhead: 1 << 20)
        // The index is late: the network is asked.
        network.passDelays()
        network.last.begin(200, [("ETag", "\"2\""), ("Content-Length", "200000"), ("Cache-Control", "no-store")])
        deliver(content.reversed())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 10, alignment: 1)
        defer { buffer.deallocate() }
        #expect(try source.read(into: buffer, at: 199_000) == .bytes(10))
        // Its beginning is not in memory any more.
        #expect(try source.read(into: buffer, at: 1000) == .notYet)
        network.run { source.hasFailed || source.buffered > 0 }
        #expect(throws: ResourceFailure.changed.byteSourceError) { try source.read(into: buffer, at: 1000) }
        #expect(network.transfers.count == 2)
    }

    @Test("Another version replaces it, and its file goes")
    func replaced() {
        fill()
        let old = fixture.files
        fixture.clock.time.seconds += 100
        let (sink, _) = asked()
        network.last.answer(
            200, [("ETag", "\"2\""), ("Content-Length", "3"), ("Cache-Control", "max-age=60")], [1, 2, 3])
        #expect(sink.bytes == [1, 2, 3])
        fixture.settle()
        #expect(fixture.files.count == 1 && fixture.files != old)
        #expect(served().bytes == [1, 2, 3])
    }

    @Test("It stands in for an error of the server and of the network, as long as it may")
    func standsIn() {
        fill()
        fixture.clock.time.seconds += 660
        for isNetwork in [true, false] {
            let (sink, _) = asked()
            if isNetwork { network.last.end(.timeOut(.connecting)) } else { network.last.answer(503) }
            network.run { !sink.ends.isEmpty }
            #expect(sink.bytes == content && sink.ends == [nil])
        }
        fixture.clock.time.seconds += 1
        let (sink, _) = asked()
        network.last.end(.timeOut(.connecting))
        #expect(sink.ends == [.timeOut(.connecting)] && sink.head == nil)
        let (refused, _) = asked()
        network.last.answer(503)
        #expect(refused.head?.status == 503 && refused.ends == [nil])
        // A certificate is not an error of the network.
        fixture.clock.time.seconds -= 100
        let (untrusted, _) = asked()
        network.last.end(.tls(.expired))
        #expect(untrusted.ends == [.tls(.expired)])
    }

    @Test("A part is continued where it was interrupted, and the whole is served after that", arguments: [false, true])
    func continued(isReopened: Bool) throws {
        let (first, transfer) = asked()
        network.last.begin(200, Self.fields + [("Content-Length", "200000")])
        deliver(content[..<150_000])
        transfer.cancel()
        network.run { !first.ends.isEmpty }
        #expect(first.ends == [.cancelled])
        fixture.settle()
        if isReopened { try fixture.reopen() }
        let (sink, _) = asked()
        #expect(network.last.request.range == ByteRange(from: 131_072))
        #expect(network.last.request.headers == [HeaderField("If-Range", "\"1\"")])
        network.last.begin(
            206, Self.fields + [("Content-Range", "bytes 131072-199999/200000"), ("Content-Length", "68928")])
        // The part on the medium comes first.
        let resumes = network.last.resumes
        #expect(network.last.deliver([1]) == .enough)
        network.run { network.last.resumes > resumes }
        #expect(sink.bytes == Array(content[..<131_072]))
        deliver(content[131_072...])
        network.last.end()
        #expect(sink.bytes == content && sink.ends == [nil])
        #expect(sink.head?.status == 200 && sink.head?.contentLength == 200_000)
        fixture.settle()
        #expect(fixture.files.count == 1)
        #expect(served().bytes == content)
    }

    @Test("Another version comes instead of the rest: all of it is fetched")
    func changedPart() {
        let (first, _) = asked()
        network.last.begin(200, Self.fields + [("Content-Length", "200000")])
        deliver(content[..<100_000])
        network.last.end(.connection(.lost))
        #expect(first.ends == [.connection(.lost)])
        fixture.settle()
        let (sink, _) = asked()
        network.last.answer(200, [("ETag", "\"2\""), ("Content-Length", "3")], [7, 8, 9])
        #expect(sink.bytes == [7, 8, 9] && sink.head?.status == 200)
        fixture.settle()
        #expect(fixture.stored(request())?.count == 3 && fixture.files.count == 1)
    }

    @Test("A receiver that has enough makes the cache wait")
    func paused() {
        fill()
        let (sink, transfer) = begin(room: 100_000)
        network.run { sink.refusals == 1 }
        network.runScheduled()
        #expect(sink.bytes == Array(content[..<65_536]) && sink.ends.isEmpty)
        sink.room = .max
        transfer.resume()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content)
    }

    @Test("A medium that does not answer in time is not waited for, and its later answer does not count")
    func slowMedium() {
        fill()
        let release = DispatchSemaphore(value: 0)
        fixture.storage.perform { release.waitInTime() }
        let (sink, _) = begin()
        network.passDelays()
        #expect(network.transfers.count == 2)
        network.last.answer(200, Self.fields + [("Content-Length", "3")], [1, 2, 3])
        release.signal()
        fixture.settle()
        network.runScheduled()
        #expect(sink.bytes == [1, 2, 3] && sink.ends == [nil] && network.transfers.count == 2)
    }

    @Test("Cancelled while it looks, asks, and serves")
    func cancelled() {
        fill()
        let (looking, first) = begin()
        first.cancel()
        network.run { !looking.ends.isEmpty }
        #expect(looking.ends == [.cancelled] && looking.bytes.isEmpty)
        let (serving, second) = begin(room: 70_000)
        network.run { serving.refusals == 1 }
        second.cancel()
        network.run { !serving.ends.isEmpty }
        fixture.clock.time.seconds += 100
        let (asking, third) = asked()
        third.cancel()
        network.run { !asking.ends.isEmpty }
        fixture.settle()
        network.runScheduled()
        for sink in [looking, serving, asking] { #expect(sink.ends == [.cancelled]) }
        fixture.clock.time.seconds -= 100
        #expect(served().bytes == content)
    }

    @Test(
        "A damaged or missing file: the transfer ends as if the network had failed, and the entry is gone",
        arguments: [0, 20, 70_000, 199_000, nil])
    func damaged(place: Int?) throws {
        fill()
        let path = try fixture.onlyFile()
        if let place {
            var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            bytes[place] ^= 1
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        let sink = served()
        #expect(sink.ends == [.truncated] && content.starts(with: sink.bytes))
        fixture.settle()
        #expect(fixture.stored(request()) == nil && fixture.files.isEmpty)
        fill()
        #expect(served().bytes == content)
    }

    @Test("Without a scope, with no-store, or without a length nothing is stored")
    func notStored() {
        var plain = request()
        plain.cacheScope = nil
        let (sink, _) = begin(plain)
        network.last.answer(200, Self.fields + [("Content-Length", "1")], [1])
        #expect(sink.bytes == [1])
        for fields in [[("Cache-Control", "no-store"), ("Content-Length", "1")], Self.fields] {
            _ = asked()
            network.last.answer(200, fields, [1])
        }
        fixture.settle()
        #expect(fixture.files.isEmpty && fixture.stored(request()) == nil)
    }
}
