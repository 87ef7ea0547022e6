import Foundation
import PCM
import Synchronization
import TestSupport
import Testing

/// Runs both at the same time on separate threads and returns when both have ended.
private func together(_ first: @escaping @Sendable () -> Void, _ second: @escaping @Sendable () -> Void) {
    let ended = DispatchSemaphore(value: 0)
    for body in [first, second] {
        Thread {
            body()
            ended.signal()
        }.start()
    }
    ended.waitOrEndRun("a thread")
    ended.waitOrEndRun("a thread")
}

@Suite("Lock-free hand-over between two real threads")
struct ThreadTests {
    /// The expected sample at a position.
    private static func sample(at position: Int64) -> Int32 { Int32(truncatingIfNeeded: position &* 0x9e37_79b1) }

    @Test("the ring loses, doubles and changes no sample, with markers and rewinds between")
    func ring() throws {
        let ring = try PCMRing(capacity: 8400, markerCapacity: 4)
        let sampleCount = 3_000_000
        let markersMet = Atomic<Int>(0)
        let faults = Atomic<Int>(0)
        let delivered = Atomic<Int>(0)
        let markersPut = Atomic<Int>(0)

        together(
            {
                var random = FixedRandom(state: 1)
                var written = 0
                while written < sampleCount {
                    let region = ring.writableRegion()
                    let count = min(region.count, sampleCount - written, Int.random(in: 1...1500, using: &random))
                    let position = ring.writePosition
                    for index in 0..<count { region[index] = Self.sample(at: position + Int64(index)) }
                    ring.commit(count)
                    written += count
                    if count == 0 { Deadline.giveWay() }
                    let format = PCMFormat(sampleRate: Int(ring.writePosition), channelCount: 2, bitDepth: 16)
                    if Int.random(in: 0..<8, using: &random) == 0, ring.put(.format(format)) {
                        markersPut.add(1, ordering: .relaxed)
                    }
                }
                while !ring.put(.end) { Deadline.giveWay() }
            },
            {
                var random = FixedRandom(state: 2)
                // The first position that was not delivered yet: rewinding delivers nothing twice.
                var frontier: Int64 = 0
                while !(ring.pendingMarker?.marker == .end && ring.readPosition >= frontier) {
                    if let marker = ring.pendingMarker, marker.marker != .end {
                        let fresh = marker.position >= frontier
                        // The marker carries the position that it was put at.
                        let expected = PCMFormat(sampleRate: Int(marker.position), channelCount: 2, bitDepth: 16)
                        if marker.marker != .format(expected) {
                            faults.add(1, ordering: .relaxed)
                        }
                        ring.passMarker()
                        if fresh {
                            markersMet.add(1, ordering: .relaxed)
                            frontier = marker.resumption
                        }
                    }
                    let region = ring.readableRegion()
                    let count = min(region.count, Int.random(in: 1...1000, using: &random))
                    let position = ring.readPosition
                    var wrong = 0
                    for index in 0..<count where region[index] != Self.sample(at: position + Int64(index)) {
                        wrong += 1
                    }
                    faults.add(wrong, ordering: .relaxed)
                    ring.advance(count)
                    let end = position + Int64(count)
                    if end > frontier {
                        delivered.add(Int(end - frontier), ordering: .relaxed)
                        frontier = end
                    }
                    if count == 0 { Deadline.giveWay() }
                    if Int.random(in: 0..<4, using: &random) != 0 {
                        let released = ring.releasedPosition
                        ring.release(upTo: released + (ring.readPosition - released) / 2)
                    }
                    if Int.random(in: 0..<16, using: &random) == 0 { ring.rewind(to: ring.releasedPosition) }
                }
            })

        #expect(faults.load(ordering: .relaxed) == 0)
        #expect(delivered.load(ordering: .relaxed) == sampleCount)
        #expect(markersMet.load(ordering: .relaxed) == markersPut.load(ordering: .relaxed))
        #expect(markersPut.load(ordering: .relaxed) > 100)
    }

    @Test("the queue delivers everything once and in order")
    func queue() {
        let queue = MessageQueue<SIMD2<Int>>(capacity: 64)
        let count = 500_000
        let faults = Atomic<Int>(0)
        together(
            {
                for number in 0..<count {
                    while !queue.push(SIMD2(number, ~number)) { Deadline.giveWay() }
                }
            },
            {
                var expected = 0
                while expected < count {
                    guard let message = queue.pop() else {
                        Deadline.giveWay()
                        continue
                    }
                    if message != SIMD2(expected, ~expected) { faults.add(1, ordering: .relaxed) }
                    expected += 1
                }
            })
        #expect(faults.load(ordering: .relaxed) == 0)
        #expect(queue.pop() == nil)
    }

    @Test("a snapshot is never torn and never goes back")
    func snapshot() {
        let snapshot = Snapshot(SIMD8<Int64>(repeating: 0))
        let last: Int64 = 30_000
        let faults = Atomic<Int>(0)
        together(
            {
                for number in 1...last { snapshot.publish(SIMD8(repeating: number)) }
            },
            {
                var newest: Int64 = 0
                while newest < last {
                    let value = snapshot.read()
                    if value != SIMD8(repeating: value[0]) || value[0] < newest { faults.add(1, ordering: .relaxed) }
                    newest = value[0]
                }
            })
        #expect(faults.load(ordering: .relaxed) == 0)
    }
}
