import Media
import Network
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player

@Suite("A host that takes long to begin an answer (docs/playback.md, 15.4)")
struct SlowHostTests {
    private let network = ScriptedNetwork()
    private let clock = ManualClock()
    private let failed: FailedAddresses

    init() { failed = FailedAddresses(clock: clock) }

    /// Fetches a resource whose first byte comes after so many seconds, and returns the timeouts of its requests in
    /// milliseconds; nil: as configured.
    private func timeouts(
        _ url: String, after seconds: Int64, _ purpose: RetrySchedule.Purpose = .playback
    ) -> [Int?] {
        let before = network.transfers.count
        network.server = { [clock] transfer in
            let limit = Int64(transfer.request.firstByteTimeout ?? 20_000)
            clock.advance(by: min(1000 * seconds, limit) * 1_000_000)
            if 1000 * seconds > limit { return transfer.end(.timeOut(.firstByte)) }
            transfer.answer(200, [("Content-Length", "1")], [1])
        }
        let received = RecordedResource()
        _ = ResourceTransfer(
            TransferRequest(url: url), over: network, for: purpose,
            at: ResourceAddresses(Alternatives(url, bases: []), failed: failed), into: received)
        for _ in 0..<10 { network.passDelays() }
        #expect(received.ends == [nil])
        return network.transfers[before...].map { $0.request.firstByteTimeout }
    }

    @Test("Only its first resource is requested twice", arguments: [RetrySchedule.Purpose.playback, .offlining])
    func once(purpose: RetrySchedule.Purpose) {
        #expect(timeouts("https://a/1", after: 25, purpose) == [nil, 40_000])
        #expect(timeouts("https://a/2", after: 25, purpose) == [50_000])
        #expect(timeouts("https://a/3", after: 45, purpose) == [50_000])
        #expect(timeouts("https://a/4", after: 80, purpose) == [90_000])
        #expect(timeouts("https://a/5", after: 100, purpose) == [120_000])
        // Another host has its own time.
        #expect(timeouts("https://b/1", after: 1, purpose) == [nil])
        #expect(timeouts("https://a/6", after: 1, purpose) == [120_000])
        #expect(timeouts("https://a/7", after: 1, purpose) == [nil])
    }

    @Test("One that becomes slow in time is never requested twice")
    func gradually() {
        for seconds in [5, 12, 25, 45, 80] as [Int64] {
            #expect(timeouts("https://a/\(seconds)", after: seconds).count == 1, "\(seconds)")
        }
    }

    @Test("Another link begins with the default, and other purposes always do")
    func others() {
        #expect(timeouts("https://a/1", after: 25) == [nil, 40_000])
        #expect(timeouts("https://a/2", after: 1, .validation) == [nil])
        #expect(timeouts("https://a/3", after: 25) == [50_000])
        failed.forget()
        #expect(timeouts("https://a/4", after: 1) == [nil])
    }
}
