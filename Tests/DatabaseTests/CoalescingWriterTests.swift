import Database
import Testing

/// A writer that the arguments of `#expect` can change.
private final class Writer {
    var value: CoalescingWriter

    init(_ value: CoalescingWriter = CoalescingWriter()) { self.value = value }

    func change() -> Bool { value.change() }
    func begin() -> Bool { value.begin() }
    func end(succeeded: Bool) -> Bool { value.end(succeeded: succeeded) }
    func waitForRetry() -> Bool { value.waitForRetry() }
    func retry() -> Bool { value.retry() }
    func rest() -> Bool { value.rest() }
    func endRest() -> Bool { value.endRest() }
}

@Suite("Coalescing of writes")
struct CoalescingWriterTests {
    @Test("one write runs at a time, and the changes meanwhile are in the next one")
    func oneAtATime() {
        let writer = Writer()
        #expect(!writer.begin())
        #expect(writer.change() && writer.value.isWriting)
        #expect(!writer.change())
        writer.value.take()
        #expect(!writer.end(succeeded: true))
        #expect(!writer.begin(), "the write has taken both changes")
        #expect(writer.change())
        writer.value.take()
        #expect(!writer.change())
        #expect(!writer.end(succeeded: true))
        #expect(writer.begin(), "the change came after the write had taken the others")
    }

    @Test("the first failure and the first success after it are news; the failed changes wait for the next change")
    func failures() {
        let writer = Writer()
        for isFirst in [true, false] {
            #expect(writer.change())
            writer.value.take()
            #expect(writer.end(succeeded: false) == isFirst)
            #expect(writer.value.hasFailed)
        }
        #expect(writer.begin())
        writer.value.take()
        #expect(writer.end(succeeded: true))
        #expect(!writer.value.hasFailed && !writer.begin())
    }

    @Test("a writer that is known to fail reports its first success")
    func failedBefore() {
        let writer = Writer(CoalescingWriter(hasFailed: true))
        #expect(writer.change())
        #expect(writer.end(succeeded: true))
    }

    @Test("one timer retries a failed write, unless a change has done so before")
    func retries() {
        let writer = Writer()
        #expect(writer.change())
        writer.value.take()
        _ = writer.end(succeeded: false)
        #expect(writer.waitForRetry())
        #expect(!writer.waitForRetry())
        #expect(writer.retry())
        writer.value.take()
        _ = writer.end(succeeded: false)
        #expect(writer.waitForRetry())
        #expect(writer.change())
        writer.value.take()
        _ = writer.end(succeeded: true)
        #expect(!writer.retry())
    }

    @Test("changes wait while writes rest")
    func rests() {
        let writer = Writer()
        #expect(writer.rest())
        #expect(!writer.rest())
        #expect(!writer.change())
        #expect(writer.endRest())
        writer.value.take()
        _ = writer.end(succeeded: true)
        #expect(writer.rest())
        #expect(!writer.endRest(), "nothing has changed")
    }

    @Test("a write that has nothing to write is no success")
    func skipped() {
        let writer = Writer(CoalescingWriter(hasFailed: true))
        #expect(writer.change())
        writer.value.take()
        writer.value.skip()
        #expect(writer.value.hasFailed && !writer.value.isWriting && !writer.begin())
    }

    @Test("no write begins after the end")
    func closed() {
        let writer = Writer()
        writer.value.close()
        #expect(!writer.change())
    }
}
