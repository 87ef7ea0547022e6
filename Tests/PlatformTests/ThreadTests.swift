import CLinux
import Testing
import TestSupport
@testable import Platform

@Suite("Threads")
struct ThreadTests {
    @Test(
        "carry the name that the kernel shows, cut to 15 bytes",
        arguments: [
            ("audio", "audio"), ("a name of twenty by", "a name of twent"), ("", ""),
        ])
    func name(given: String, kernel: String) throws {
        let names = Recorder<String>()
        try NamedThread.start(name: given) {
            let bytes = (try? File.contents(of: "/proc/thread-self/comm", limit: 100)) ?? []
            names.record(String(decoding: bytes, as: UTF8.self))
        }.joinOrEndRun()
        #expect(names.elements == [kernel + "\n"])
    }

    @Test("run with real-time priority, or say why not")
    func realtime() throws {
        let policies = Recorder<Int32>()
        let thread = try NamedThread.start(name: "audio", priority: .realtime(10)) {
            policies.record(sched_getscheduler(0))
        }
        thread.joinOrEndRun()
        let fifoResetOnFork = SCHED_FIFO | 0x4000_0000
        #expect(policies.elements == [thread.refusal == nil ? fifoResetOnFork : SCHED_OTHER])
    }

    @Test("run normally when the priority is refused")
    func refused() throws {
        let policies = Recorder<Int32>()
        let thread = try NamedThread.start(name: "audio", priority: .realtime(1000)) {
            policies.record(sched_getscheduler(0))
        }
        thread.joinOrEndRun()
        #expect(policies.elements == [SCHED_OTHER])
        #expect(thread.refusal?.code == EINVAL)
        #expect(thread.refusal?.priority == 1000)
    }

    @Test(
        "a refusal says the way out",
        arguments: [
            (limit: 0, code: EPERM, says: "LimitRTPRIO=40"),
            (limit: 0, code: EPERM, says: "group audio"),
            (limit: 95, code: EPERM, says: "CAP_SYS_NICE"),
            (limit: 95, code: EINVAL, says: "Invalid argument"),
        ])
    func refusal(limit: Int, code: Int32, says: String) {
        let refusal = RealtimeRefusal(thread: "audio", priority: 40, limit: limit, code: code)
        #expect(refusal.description.hasPrefix("thread audio runs without real-time priority 40: "))
        #expect(refusal.description.contains(says))
    }

    @Test("take any stack size, however small or odd", arguments: [1, 16_384, 100_001, 1 << 20])
    func stack(size: Int) throws {
        let ran = Recorder<Bool>()
        try NamedThread.start(name: "small", stackSize: size) { ran.record(true) }.joinOrEndRun()
        #expect(ran.elements == [true])
    }

    @Test("joining waits for the end; a second time it returns at once")
    func join() throws {
        let order = Recorder<String>()
        let gate = try WakeUp()
        let thread = try NamedThread.start(name: "slow") {
            _ = isReadable(gate.descriptor, milliseconds: -1)
            order.record("thread")
        }
        gate.signal()
        thread.joinOrEndRun()
        order.record("joined")
        thread.joinOrEndRun()
        #expect(order.elements == ["thread", "joined"])
    }

    @Test("a lock lets one in at a time")
    func lock() throws {
        // @unchecked: `lock` guards the value; the test checks this.
        final class Counter: @unchecked Sendable { var value = 0 }
        let lock = Lock()
        let counter = Counter()
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "counter") {
                for _ in 0..<10_000 { lock.withLock { counter.value += 1 } }
            }
        }
        for thread in threads { thread.joinOrEndRun() }
        #expect(counter.value == 40_000)
    }

    @Test("background work has the lowest priority, and nothing else has")
    func background() throws {
        // The 19th field of proc_pid_stat(5); the name before it has no blank here.
        @Sendable func nice() -> Int? {
            let stat = (try? File.contents(of: "/proc/thread-self/stat", limit: 4096)) ?? []
            return Int(String(decoding: stat.split(separator: UInt8(ascii: " "))[18], as: UTF8.self))
        }
        let seen = Recorder<Int?>()
        try NamedThread.start(name: "background", priority: .background) { seen.record(nice()) }.joinOrEndRun()
        try NamedThread.start(name: "normal") { seen.record(nice()) }.joinOrEndRun()
        #expect(seen.elements[0] == 19 && seen.elements[1] != 19)
    }

    @Test("a wait with a limit ends with its condition, or with the time")
    func limitedWait() throws {
        let condition = Condition()
        let clock = SystemMonotonicClock()
        let start = clock.now()
        condition.wait(atMost: 2_000_000) { false }
        #expect(clock.now() - start >= 2_000_000)
        // Safe: guarded by the condition.
        nonisolated(unsafe) var isTrue = false
        let thread = try NamedThread.start(name: "waker") { condition.update { isTrue = true } }
        condition.wait(atMost: 60_000_000_000) { isTrue }
        #expect(condition.update { isTrue })
        thread.joinOrEndRun()
    }
}
