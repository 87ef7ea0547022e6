import Media
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Fetching
@testable import Player
@testable import Streaming

@Suite("Retries of live content (docs/playback.md, 15.12)")
struct LivePatienceTests {
    @Test("Each half of a target duration, until two of them have passed", arguments: [2.0, 6.0, 0.0, 1e9])
    func pace(target: Double) {
        var patience = LivePatience(targetDuration: target)
        let half = Int64(max(0.2, min(target, 60)) * 0.5e9)
        let delays = (0..<6).map { _ in patience.delay(afterAttempt: 0) }
        #expect(delays == [half, half, half, half, nil, nil])
    }

    @Test("The time of the attempts counts, and a new byte begins the count again")
    func attempts() {
        var patience = LivePatience(targetDuration: 2)
        #expect(patience.delay(afterAttempt: 1_500_000_000) == 1_000_000_000)
        #expect(patience.delay(afterAttempt: 1_400_000_000) == 1_000_000_000)
        #expect(patience.delay(afterAttempt: 100_000_000) == nil)
        patience = LivePatience(targetDuration: 2)
        #expect(patience.delay(afterAttempt: 2_900_000_000) == 1_000_000_000)
        patience.proceeds(after: 0)
        #expect(patience.delay(afterAttempt: 3_999_999_999) == 1_000_000_000)
        #expect(patience.delay(afterAttempt: .max) == nil)
        #expect(LivePatience(targetDuration: 10).longestSilence == 10_000)
        #expect(LivePatience(targetDuration: 1).longestSilence == 4000)
    }

    @Test("A resource that trickles is given up after four target durations, or 4 s", arguments: [0.5, 1, 6])
    func slow(target: Double) {
        var patience = LivePatience(targetDuration: target)
        let limit = max(4, 4 * target)
        for step in 1...7 {
            patience.proceeds(after: Int64(limit * 1e9 / 8))
            #expect(!patience.isTooSlow, "\(step)")
        }
        patience.proceeds(after: Int64(limit * 1e9 / 8))
        #expect(patience.isTooSlow && patience.delay(afterAttempt: 0) == nil)
    }

    @Test("Five refusals without sound between them are a new session, an outage is none")
    func losses() {
        var losses = LiveLosses()
        let refusal = MediaError.source(.status(404))
        for _ in 0..<4 { #expect(losses.lost(after: refusal) == nil) }
        #expect(losses.lost(after: refusal) == refusal)
        for _ in 0..<4 { #expect(losses.lost(after: refusal) == nil) }
        losses.heard()
        for _ in 0..<50 { #expect(losses.lost(after: .source(.network(reason: ""))) == nil) }
        for _ in 0..<50 { #expect(losses.lost(after: .source(.status(503))) == nil) }
        for _ in 0..<4 { #expect(losses.lost(after: .damaged(what: "")) == nil) }
        #expect(losses.lost(after: .damaged(what: ""))?.isWorthRestarting == true)
    }

    // MARK: Transfers

    private let network = ScriptedNetwork()
    private let clock = ManualClock()
    private let resource = RecordedResource()
    private static let bytes = [UInt8](0...255)

    private func transfer(from: Int64? = nil, upTo: Int64? = nil) -> LiveTransfer {
        let range = from.map { ByteRange(from: $0, upTo: upTo) }
        return LiveTransfer(
            TransferRequest(url: "https://content/1", range: range), of: ResourceVersion(), over: network,
            LiveRetries(targetDuration: 6, clock: clock), progress: nil, into: resource)
    }

    private func wait(_ milliseconds: Int64) {
        #expect(network.delays == [milliseconds])
        clock.advance(by: milliseconds * 1_000_000)
        network.passDelays()
    }

    @Test("Any answer but the resource is retried", arguments: LiveAnswer.allCases)
    func retries(answer: LiveAnswer) {
        network.server = { answer.send(to: $0, instead: Self.bytes) }
        let transfer = transfer()
        for _ in 0..<3 { wait(3000) }
        #expect(resource.ends.isEmpty && network.transfers.count == 4)
        network.server = { LiveAnswer.serve(Self.bytes, to: $0) }
        wait(3000)
        #expect(resource.ends == [nil] && resource.bytes == Self.bytes)
        transfer.cancel()
        network.passDelays()
        #expect(resource.ends == [nil])
    }

    @Test("After two target durations it has failed", arguments: LiveAnswer.allCases)
    func fails(answer: LiveAnswer) {
        network.server = { answer.send(to: $0, instead: Self.bytes) }
        let transfer = transfer()
        for _ in 0..<4 { wait(3000) }
        #expect(resource.ends.count == 1 && resource.ends[0] != nil && network.delays.isEmpty)
        transfer.resume()
        transfer.cancel()
    }

    @Test("Bytes that have arrived are not requested again, of ranges, too", arguments: [nil, 16 as Int64])
    func continues(start: Int64?) {
        var sent = 0
        network.server = { transfer in
            sent += 1
            let from = Int(transfer.request.range?.from ?? 0)
            let upTo = Int(transfer.request.range?.upTo ?? 256)
            transfer.begin(
                transfer.request.range == nil ? 200 : 206,
                transfer.request.range == nil
                    ? [("Content-Length", "256")] : [("Content-Range", "bytes \(from)-\(upTo - 1)/256")])
            transfer.deliver(Array(Self.bytes[from..<min(upTo, from + 40)]))
            transfer.end(from + 40 < upTo ? .connection(.lost) : nil)
        }
        let transfer = transfer(from: start, upTo: start.map { _ in 240 })
        for _ in 0..<20 where resource.ends.isEmpty { wait(3000) }
        #expect(resource.ends == [nil])
        #expect(resource.bytes == Array(Self.bytes[Int(start ?? 0)..<(start == nil ? 256 : 240)]))
        #expect(sent == (resource.bytes.count + 39) / 40)
        transfer.cancel()
    }

    @Test("The request that is sent limits each silence, in later attempts too", arguments: [nil, 16 as Int64])
    func limits(start: Int64?) {
        network.server = { $0.end(.timeOut(.body)) }
        let transfer = transfer(from: start, upTo: start.map { _ in 240 })
        wait(3000)
        #expect(network.transfers.count == 2)
        for sent in network.transfers {
            #expect(sent.request.longestSilence == 6000 && sent.request.firstByteTimeout == 6000)
        }
        transfer.cancel()
    }

    @Test("Bytes that arrive too slowly are given up, whether the answer is cut again and again or goes on")
    func trickle() {
        for isCut in [false, true] {
            let resource = RecordedResource()
            network.server = { _ in }
            let transfer = LiveTransfer(
                TransferRequest(url: "https://content/1"), of: ResourceVersion(), over: network,
                LiveRetries(targetDuration: 6, clock: clock), progress: nil, into: resource)
            var steps = 0
            while resource.ends.isEmpty, steps < 100 {
                let sent = network.last
                let from = Int(sent.request.range?.from ?? 0)
                if isCut || steps == 0 {
                    sent.begin(
                        from == 0 ? 200 : 206,
                        from == 0 ? [("Content-Length", "256")] : [("Content-Range", "bytes \(from)-255/256")])
                }
                clock.advance(by: 2_000_000_000)
                sent.deliver([1])
                if isCut {
                    sent.end(.connection(.lost))
                    clock.advance(by: 3_000_000_000)
                    network.passDelays()
                }
                steps += 1
            }
            // 24 s in all: of 2 s for a byte, and of 3 s more for each cut.
            #expect(steps == (isCut ? 6 : 13), "\(steps)")
            #expect(resource.ends == [.transfer(.timeOut(.body))])
            transfer.cancel()
        }
    }

    @Test("A pause of the receiver is no silence: the rest is requested after it")
    func paused() {
        network.server = { _ in }
        let transfer = transfer()
        network.last.begin(200, [("Content-Length", "256")])
        resource.takesMore = false
        network.last.deliver(Array(Self.bytes[..<40]))
        clock.advance(by: 3_600_000_000_000)
        resource.takesMore = true
        network.server = { LiveAnswer.serve(Self.bytes, to: $0) }
        network.last.end(.connection(.lost))
        wait(3000)
        #expect(resource.ends == [nil] && resource.bytes == Self.bytes)
        transfer.cancel()
    }

    @Test("It can be cancelled while it waits and while it runs, and offline mode ends it")
    func cancelled() {
        network.server = { $0.answer(404) }
        transfer().cancel()
        network.passDelays()
        network.passDelays()
        #expect(resource.ends == [.cancelled] && network.transfers.count == 1)
        network.server = { _ in }
        transfer().cancel()
        #expect(resource.ends == [.cancelled, .cancelled] && network.last.isCancelled)
        network.server = { $0.end(.offlineMode) }
        _ = transfer()
        #expect(resource.ends.last == .transfer(.offlineMode))
    }
}
