import Network
import TestSupport
import PlayerTestSupport
import Testing

@testable import Fetching

@Suite("Bytes that wait for a reader, in bounded memory")
struct BoundedBufferTests {
    private func append(_ count: Int, to buffer: inout BoundedBuffer) -> SinkAnswer {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: Int(buffer.end) + $0) }
        return bytes.withUnsafeBytes { buffer.append($0) }
    }

    // The macro `#expect` does not take mutating methods.
    private func wantsMore(below limit: Int, _ buffer: inout BoundedBuffer) -> Bool { buffer.wantsMore(below: limit) }
    private func takeAll(_ buffer: inout BoundedBuffer) -> [[UInt8]] { buffer.takeAll() }
    private func wait(_ buffer: inout BoundedBuffer, _ wake: @escaping @Sendable () -> Void) -> Bool {
        buffer.wait(wake)
    }

    private func bytes(of buffer: BoundedBuffer, from offset: Int64, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let copied = bytes.withUnsafeMutableBytes { buffer.copy(into: $0, from: offset) }
        return Array(bytes[..<copied])
    }

    @Test("Takes bytes until the capacity waits; the last arrival may exceed it")
    func capacity() {
        var buffer = BoundedBuffer(from: 10, capacity: 8)
        #expect(append(7, to: &buffer) == .more && append(5, to: &buffer) == .more && !buffer.isFull)
        #expect(append(1, to: &buffer) == .enough && buffer.isFull && buffer.end == 22)
    }

    @Test("Bytes before the reader do not count, and stay as long as it may look back")
    func reader() {
        var buffer = BoundedBuffer(from: 0, capacity: 8)
        for _ in 0..<4 { #expect(append(2, to: &buffer) == .more) }
        #expect(append(2, to: &buffer) == .enough)
        buffer.read(at: 6, looksBack: 4)
        #expect(buffer.start == 2 && buffer.position == 6)
        #expect(bytes(of: buffer, from: 3, 100) == [3, 4, 5, 6, 7] && bytes(of: buffer, from: 6, 1) == [6])
        // A piece is forgotten as a whole.
        buffer.read(at: 7, looksBack: 0)
        #expect(buffer.start == 6 && bytes(of: buffer, from: 7, 9) == [7])
        #expect(append(2, to: &buffer) == .more)
    }

    @Test("A full buffer wants more once, when fewer bytes wait than the limit")
    func wantsMore() {
        var buffer = BoundedBuffer(from: 0, capacity: 8)
        #expect(!wantsMore(below: 8, &buffer))
        _ = append(8, to: &buffer)
        #expect(!wantsMore(below: 9, &buffer))
        _ = append(1, to: &buffer)
        buffer.read(at: 4, looksBack: 0)
        #expect(!wantsMore(below: 4, &buffer))
        buffer.read(at: 5, looksBack: 0)
        buffer.isHeld = true
        #expect(!wantsMore(below: 4, &buffer))
        buffer.isHeld = false
        #expect(wantsMore(below: 4, &buffer) && !wantsMore(below: 4, &buffer))
    }

    @Test("A held buffer takes nothing, even when it is empty")
    func held() {
        var buffer = BoundedBuffer(from: 0, capacity: 8)
        buffer.isHeld = true
        #expect(append(1, to: &buffer) == .enough && buffer.isFull && buffer.end == 0)
        buffer.isHeld = false
        #expect(wantsMore(below: 8, &buffer) && append(1, to: &buffer) == .more)
    }

    @Test("All bytes are taken in the pieces in which they arrived")
    func takeAll() {
        var buffer = BoundedBuffer(from: 0, capacity: 4)
        _ = append(2, to: &buffer)
        _ = append(3, to: &buffer)
        _ = append(1, to: &buffer)
        #expect(takeAll(&buffer) == [[0, 1], [2, 3, 4]])
        #expect(wantsMore(below: 4, &buffer) && takeAll(&buffer).isEmpty && buffer.start == 5 && buffer.position == 5)
    }

    @Test("A reader is woken once, when enough bytes wait", arguments: [1, 3])
    func wake(worthWaking: Int) {
        let woken = Locked(0)
        var buffer = BoundedBuffer(from: 0, capacity: 100, worthWaking: worthWaking)
        #expect(wait(&buffer) { woken.withLock { $0 += 1 } })
        for count in 1...4 {
            _ = append(1, to: &buffer)
            buffer.takeWake()?()
            #expect(woken.value == (count < worthWaking ? 0 : 1))
        }
        #expect(!wait(&buffer) {})
    }

    @Test("The end wakes a reader, also with too few bytes", arguments: [nil, ResourceFailure.changed])
    func end(failure: ResourceFailure?) {
        let woken = Locked(0)
        var buffer = BoundedBuffer(from: 0, capacity: 100, worthWaking: 9)
        #expect(wait(&buffer) { woken.withLock { $0 += 1 } })
        _ = append(1, to: &buffer)
        let early = buffer.takeWake()
        #expect(early == nil)
        buffer.finish(failure)
        buffer.takeWake()?()
        #expect(woken.value == 1 && !wait(&buffer) {})
        switch buffer.progress {
        case .arriving: Issue.record("it has ended")
        case .complete: #expect(failure == nil)
        case .failed(let reason): #expect(failure == reason)
        }
    }
}
