import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player

@Suite("The status of a stream (docs/playback.md, 15.8)")
struct StreamProgressTests {
    private let network = ScriptedNetwork()
    private let clock = ManualClock()
    private let progress: StreamProgress

    init() { progress = StreamProgress(clock: clock) }

    private func bytes(_ range: ByteRange? = nil) -> StreamedBytes {
        StreamedBytes(TransferRequest(url: "u", range: range), over: network, readAhead: 1000, progress: progress)
    }

    private func read(_ source: StreamedBytes, _ count: Int, at offset: Int64) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        _ = try source.read(into: buffer, at: offset)
    }

    @Test("Seconds that have arrived ahead of the reader, by the share of the bytes")
    func buffered() throws {
        let source = bytes()
        #expect(progress.bufferedSeconds == nil)
        source.show(seconds: 20, isSegment: false)
        network.last.begin(200, [("Content-Length", "1000")])
        #expect(progress.bufferedSeconds == 0)
        network.last.deliver([UInt8](repeating: 1, count: 500))
        #expect(progress.bufferedSeconds == 10)
        try read(source, 100, at: 100)
        #expect(progress.bufferedSeconds == 6)

        // The next segment, a range of a file.
        let next = bytes(ByteRange(from: 5000, upTo: 5200))
        next.show(seconds: 4, isSegment: true)
        network.last.begin(206, [("Content-Range", "bytes 5000-5199/9000")])
        network.last.deliver([UInt8](repeating: 1, count: 50))
        #expect(progress.bufferedSeconds == 7)
        withExtendedLifetime(next) {}
    }

    @Test("A resource that is not needed any more does not count")
    func forgotten() {
        do {
            let source = bytes()
            source.show(seconds: 20, isSegment: false)
            #expect(progress.bufferedSeconds == 0)
        }
        #expect(progress.bufferedSeconds == nil)
    }

    @Test("The network's failure is shown until bytes come, with the seconds to the next attempt")
    func networkFailure() {
        let source = bytes()
        #expect(progress.wait == nil)
        network.last.end(.connection(.lost))
        #expect(progress.wait == .network(seconds: 0.5))
        clock.advance(by: 200_000_000)
        #expect(progress.wait == .network(seconds: 0.3))
        clock.advance(by: 300_000_000)
        network.passDelays()
        #expect(progress.wait == .network(seconds: 0))
        network.last.end(.connection(.lost))
        #expect(progress.wait == .network(seconds: 1))
        network.passDelays()
        network.last.begin(200, [("Content-Length", "1000")])
        network.last.deliver([1])
        #expect(progress.wait == nil)
        withExtendedLifetime(source) {}
    }

    @Test("The service's failure, and what it asks for; then the error is no wait")
    func serviceFailure() {
        let source = bytes()
        network.last.answer(503, [("Retry-After", "7")])
        #expect(progress.wait == .service(seconds: 7))
        for _ in 1...3 {
            network.passDelays()
            network.last.answer(503)
        }
        #expect(progress.wait == nil)
        withExtendedLifetime(source) {}
    }

    @Test("A transfer that is cancelled while it waits is forgotten")
    func cancelled() {
        do {
            let source = bytes()
            network.last.end(.connection(.lost))
            #expect(progress.wait != nil)
            withExtendedLifetime(source) {}
        }
        network.passDelays()
        #expect(progress.wait == nil)
    }
}
