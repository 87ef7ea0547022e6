import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("Read-ahead into the cache")
struct CacheReadAheadTests {
    private let network = PumpedNetwork()
    private let content: [UInt8] = {
        var generator = SeededRandom(9)
        return (0..<300_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }()
    private static let fields = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]

    private var request: TransferRequest {
        var request = TransferRequest(url: "https://a.example/b?sign=1")
        request.cacheScope = .path
        return request
    }

    /// Begins a transfer whose receiver takes `room` bytes, and waits until the network is asked or the cache answers.
    private func begin(
        _ fixture: CacheFixture, _ use: CacheUse = .recording(mayReadAhead: { true }), room: Int = .max
    ) -> (CollectingSink, any OngoingTransfer) {
        let sink = CollectingSink()
        sink.room = room
        let count = network.transfers.count
        let caching = CachingNetwork(network, fixture.store, use, clock: fixture.clock) {
            SystemRandomSource().bytes(16)
        }
        let transfer = caching.begin(request, into: sink)
        network.run { network.transfers.count > count || !sink.ends.isEmpty }
        return (sink, transfer)
    }

    /// Begins the answer, and waits until its file is open.
    private func answer(
        _ fixture: CacheFixture, _ fields: [(String, String)] = fields, length: Int? = 300_000
    ) {
        let size = length.map { ("Content-Length", "\($0)") } ?? ("Transfer-Encoding", "chunked")
        network.last.begin(200, fields + [size])
        fixture.settle()
    }

    /// - Returns: how many bytes were taken before the receiver, or the cache, had enough.
    private func deliver(_ bytes: some Sequence<UInt8>) -> Int {
        var taken = 0
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(10_000))
            guard network.last.deliver(piece) == .more else { break }
            taken += piece.count
            rest = rest.dropFirst(10_000)
        }
        return taken
    }

    @Test("a receiver that has enough gets the rest from the medium, and nothing is asked for again")
    func wholeProduct() throws {
        let fixture = try CacheFixture()
        let (sink, transfer) = begin(fixture, room: 45_000)
        answer(fixture)
        #expect(deliver(content) == 300_000)
        network.last.end()
        fixture.settle()
        network.runScheduled()
        #expect(sink.bytes == Array(content[..<40_000]) && sink.ends.isEmpty)
        // Some at a time.
        for room in [110_000, 250_000, Int.max] {
            sink.room = room
            let refusals = sink.refusals
            transfer.resume()
            network.run { sink.refusals > refusals || !sink.ends.isEmpty }
        }
        #expect(sink.bytes == content && sink.ends == [nil])
        #expect(network.transfers.count == 1 && network.last.resumes == 0)
        let (again, _) = begin(fixture)
        #expect(again.bytes == content && network.transfers.count == 1)
    }

    @Test("a receiver that is faster than the network waits for it, in the middle of a chunk too")
    func fasterReceiver() throws {
        let fixture = try CacheFixture()
        let (sink, transfer) = begin(fixture, room: 5000)
        answer(fixture)
        #expect(deliver(content[..<20_000]) == 20_000)
        sink.room = .max
        transfer.resume()
        for end in stride(from: 20_000, through: 300_000, by: 35_000) {
            if end > 20_000 { #expect(deliver(content[(end - 35_000)..<end]) == 35_000) }
            network.run { sink.bytes.count == end }
        }
        network.last.end()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content && sink.ends == [nil])
    }

    @Test("an outage: the receiver gets everything that has arrived, then the error, and the part is continued")
    func outage() throws {
        let fixture = try CacheFixture()
        let (sink, transfer) = begin(fixture, room: 45_000)
        answer(fixture)
        #expect(deliver(content[..<200_000]) == 200_000)
        network.last.end(.connection(.lost))
        network.runScheduled()
        #expect(sink.ends.isEmpty)
        sink.room = .max
        transfer.resume()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == Array(content[..<200_000]) && sink.ends == [.connection(.lost)])
        fixture.settle()
        _ = begin(fixture)
        #expect(network.last.request.range == ByteRange(from: 196_608))
    }

    @Test("cancelled: the part stays, and so does the whole", arguments: [false, true])
    func cancelled(isWhole: Bool) throws {
        let fixture = try CacheFixture()
        let (sink, transfer) = begin(fixture, room: 45_000)
        answer(fixture)
        #expect(deliver(content[..<(isWhole ? 300_000 : 200_000)]) == (isWhole ? 300_000 : 200_000))
        if isWhole { network.last.end() }
        transfer.cancel()
        network.run { !sink.ends.isEmpty }
        #expect(sink.ends == [.cancelled] && sink.bytes.count == 40_000)
        fixture.settle()
        let stored = fixture.stored(request)
        #expect(stored?.count == (isWhole ? 300_000 : 196_608) && stored?.isComplete == isWhole)
    }

    @Test("on a metered link, and for content that may not be stored, the network waits for the receiver")
    func notAhead() throws {
        let fixture = try CacheFixture()
        for (isMetered, fields) in [(true, Self.fields), (false, [("Cache-Control", "no-store")])] {
            let (sink, transfer) = begin(fixture, .recording(mayReadAhead: { !isMetered }), room: 45_000)
            answer(fixture, fields)
            #expect(deliver(content) == 40_000)
            transfer.cancel()
            network.run { !sink.ends.isEmpty }
        }
    }

    @Test("without room on the medium the network waits for the receiver")
    func fullMedium() throws {
        let fixture = try CacheFixture(freeBytes: .max)
        _ = begin(fixture, room: 45_000)
        answer(fixture)
        #expect(deliver(content) == 40_000)
    }

    @Test("a medium that loses the rest ends the transfer as a lost connection does")
    func lostRest() throws {
        // Without a length, a body that is too large for the cache is noticed late.
        let fixture = try CacheFixture(limit: 400_000)
        let (sink, transfer) = begin(fixture, room: 45_000)
        answer(fixture, length: nil)
        _ = deliver(content)
        fixture.settle()
        sink.room = .max
        transfer.resume()
        network.run { !sink.ends.isEmpty }
        #expect(sink.ends == [.truncated] && network.last.isCancelled)
        #expect(sink.bytes == Array(content[..<sink.bytes.count]))
    }

    @Test("a slow medium makes the network wait, and loses nothing")
    func slowMedium() throws {
        let fixture = try CacheFixture()
        let content = [[UInt8]](repeating: self.content, count: 10).reduce(into: []) { $0 += $1 }
        let (sink, transfer) = begin(fixture, room: 45_000)
        answer(fixture, length: content.count)
        let release = DispatchSemaphore(value: 0)
        fixture.storage.perform { release.waitInTime() }
        let taken = deliver(content)
        #expect(taken > 1 << 20 && taken < 2 << 20)
        release.signal()
        network.run { network.last.resumes > 0 }
        var done = taken
        while done < content.count {
            done += deliver(content[done...])
            fixture.settle()
            network.runScheduled()
        }
        network.last.end()
        sink.room = .max
        transfer.resume()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content && sink.ends == [nil])
    }

    @Test("a file that is opened late is waited for: the transfer goes on by itself")
    func lateFile() throws {
        let fixture = try CacheFixture()
        let (sink, transfer) = begin(fixture, room: 45_000)
        let release = DispatchSemaphore(value: 0)
        fixture.storage.perform { release.waitInTime() }
        network.last.begin(200, Self.fields + [("Content-Length", "300000")])
        let taken = deliver(content)
        #expect(taken == 40_000 && network.last.resumes == 0)
        release.signal()
        network.run { network.last.resumes > 0 }
        #expect(deliver(content[taken...]) == 260_000)
        network.last.end()
        sink.room = .max
        transfer.resume()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content && sink.ends == [nil])
    }

    @Test("a slow medium that drops bytes of a body makes no whole of it, and nothing waits for ever")
    func tooSlowMedium() throws {
        let fixture = try CacheFixture()
        let content = [[UInt8]](repeating: self.content, count: 40).reduce(into: []) { $0 += $1 }
        let (sink, transfer) = begin(fixture, room: 10 << 20)
        answer(fixture, length: content.count)
        let release = DispatchSemaphore(value: 0)
        fixture.storage.perform { release.waitInTime() }
        // More than waits for the medium at most.
        #expect(deliver(content) < 11 << 20)
        release.signal()
        fixture.settle()
        sink.room = .max
        transfer.resume()
        #expect(deliver(content[sink.bytes.count...]) == content.count - sink.bytes.count || sink.bytes == content)
        network.last.end()
        network.run { !sink.ends.isEmpty }
        #expect(sink.bytes == content && sink.ends == [nil])
        fixture.settle()
        #expect(fixture.stored(request)?.isComplete != true)
    }

    @Test("a download reads the cache, and stores nothing in it")
    func download() throws {
        let fixture = try CacheFixture()
        let (first, _) = begin(fixture, .reading)
        network.last.begin(200, Self.fields + [("Content-Length", "300000")])
        #expect(deliver(content) == 300_000)
        network.last.end()
        #expect(first.bytes == content && first.ends == [nil])
        fixture.settle()
        #expect(fixture.stored(request) == nil)
        // A part that was streamed is not fetched again.
        let (streamed, transfer) = begin(fixture, room: 45_000)
        answer(fixture)
        #expect(deliver(content[..<200_000]) == 200_000)
        transfer.cancel()
        network.run { !streamed.ends.isEmpty }
        fixture.settle()
        let (sink, _) = begin(fixture, .reading)
        #expect(network.last.request.range == ByteRange(from: 196_608))
        network.last.begin(
            206, Self.fields + [("Content-Range", "bytes 196608-299999/300000"), ("Content-Length", "103392")])
        let resumes = network.last.resumes
        #expect(network.last.deliver([1]) == .enough)
        network.run { network.last.resumes > resumes }
        #expect(deliver(content[196_608...]) == 103_392)
        network.last.end()
        #expect(sink.bytes == content && sink.ends == [nil])
    }
}
