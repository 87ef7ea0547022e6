import Manifests
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

    /// Where a resource is.
    private enum Way {
        case only, orOtherRepresentation, orOtherAddress
    }

    /// Fetches a resource whose first byte comes after so many seconds, and returns the timeouts of its requests in
    /// milliseconds; nil: as configured.
    /// - Parameter wait: for a free connection, before the request is sent, in seconds.
    private func timeouts(
        _ name: String, after seconds: Int64, _ purpose: RetrySchedule.Purpose = .playback, wait: Int64 = 0,
        _ way: Way = .orOtherAddress, isFile: Bool = false
    ) -> [Int?] {
        let before = network.transfers.count
        network.server = { [clock] transfer in
            let limit = Int64(transfer.request.firstByteTimeout ?? 20_000)
            clock.advance(by: (1000 * wait + min(1000 * seconds, limit)) * 1_000_000)
            if 1000 * seconds > limit { return transfer.end(.timeOut(.firstByte)) }
            transfer.firstByteDelay = seconds * 1_000_000_000
            transfer.answer(200, [("Content-Length", "1")], [1])
        }
        let received = RecordedResource()
        let bases = way == .orOtherAddress ? ["https://a/", "https://b/"] : []
        var request = TransferRequest(url: "https://a/\(name)")
        request.isReadInParts = isFile
        _ = ResourceTransfer(
            request, over: network, for: purpose,
            at: isFile
                ? nil
                : ResourceAddresses(
                    Alternatives(request.url, bases: bases), failed: failed,
                    way == .orOtherRepresentation ? .rounds(0) : .endless, hasWorked: true), into: received)
        for _ in 0..<10 { network.passDelays() }
        #expect(received.ends == [nil])
        return network.transfers[before...].map { $0.request.firstByteTimeout }
    }

    @Test(
        "Content without an alternative is requested once, also the first of a slow host: it has two minutes at once",
        arguments: [RetrySchedule.Purpose.playback, .offlining], [5, 25, 45, 80, 119] as [Int64])
    func once(purpose: RetrySchedule.Purpose, seconds: Int64) {
        #expect(timeouts("1", after: seconds, purpose, .only) == [120_000])
        #expect(timeouts("2", after: seconds, purpose, .orOtherRepresentation) == [120_000])
        #expect(timeouts("3", after: seconds, purpose, isFile: true) == [120_000])
    }

    @Test("A wait for a free connection says nothing about the host")
    func waiting() {
        for number in 1...3 { #expect(timeouts("\(number)", after: 1, wait: 30) == [nil]) }
        #expect(timeouts("4", after: 12, wait: 30) == [nil])
        #expect(timeouts("5", after: 1, wait: 30) == [40_000])
    }

    @Test(
        "With another address, only the first resource is requested again, there at first",
        arguments: [RetrySchedule.Purpose.playback, .offlining])
    func alternatives(purpose: RetrySchedule.Purpose) {
        #expect(timeouts("1", after: 25, purpose) == [nil, nil, 40_000])
        #expect(timeouts("2", after: 25, purpose) == [50_000])
        #expect(timeouts("3", after: 45, purpose) == [50_000])
        #expect(timeouts("4", after: 80, purpose) == [90_000])
        #expect(timeouts("5", after: 100, purpose) == [120_000])
        #expect(timeouts("6", after: 1, purpose) == [120_000])
        #expect(timeouts("7", after: 1, purpose) == [nil])
    }

    @Test("One that becomes slow in time is never requested twice")
    func gradually() {
        for seconds in [5, 12, 25, 45, 80] as [Int64] {
            #expect(timeouts("\(seconds)", after: seconds).count == 1, "\(seconds)")
        }
    }

    @Test("Another link begins with the default, and other purposes always do")
    func others() {
        #expect(timeouts("1", after: 25) == [nil, nil, 40_000])
        #expect(timeouts("2", after: 1, .validation) == [nil])
        #expect(timeouts("2", after: 1, .validation, .only) == [nil])
        #expect(timeouts("3", after: 25) == [50_000])
        failed.forget()
        #expect(timeouts("4", after: 1) == [nil])
    }
}
