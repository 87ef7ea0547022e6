import Foundation
import Platform
import Testing

/// The moment until which a test waits.
///
///     let deadline = Deadline()
///     while !isThere {
///         guard !deadline.hasPassed else { throw deadline.timedOut("the file") }
///         Deadline.pause()
///     }
///
/// Every wait of a test has one: a wait without an end occupies a thread of Swift Testing's pool, which no time limit
/// interrupts. Any thread.
public struct Deadline: Sendable {
    /// Seconds; far more than anything takes. Programs under a sanitizer are up to ten times as slow.
    public static let standard: Double = Sanitizer.isActive ? 600 : 60

    /// The time that there was at the beginning.
    public let seconds: Double
    private let end: Int64

    /// - Parameter seconds: from now on.
    public init(within seconds: Double = Self.standard) {
        self.seconds = seconds
        end = Self.now() + Int64(seconds * 1e9)
    }

    public var hasPassed: Bool { Self.now() >= end }

    /// The time that is left, for poll(2): rounded up, 0 at the end.
    public var milliseconds: Int32 { Int32(max(0, end - Self.now() + 999_999) / 1_000_000) }

    /// The time that is left, for Foundation.
    public var date: Date { Date(timeIntervalSinceNow: Double(max(0, end - Self.now())) / 1e9) }

    /// - Parameters:
    ///   - what: the event that did not happen.
    ///   - log: the output of a program about it.
    public func timedOut(_ what: String, log: String = "") -> TimedOut {
        TimedOut(what: what, seconds: seconds, log: log)
    }

    /// Yields the processor before the next check of a condition.
    public static func pause() {
        var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
        nanosleep(&time, nil)
    }

    /// Lets another thread run, where two threads hand over values as fast as they can: not a wait.
    public static func giveWay() { sched_yield() }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// An event that a test waited for did not happen in time.
public struct TimedOut: Error, CustomStringConvertible {
    public let what: String
    public let seconds: Double
    /// The last lines of the program's log; empty without a program.
    public let log: String

    /// How many lines of a log are shown.
    private static let lineCount = 20

    init(what: String, seconds: Double, log: String) {
        self.what = what
        self.seconds = seconds
        self.log = log.split(separator: "\n").suffix(Self.lineCount).joined(separator: "\n")
    }

    public var description: String {
        let time = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
        return "waited \(time) s for \(what)\(log.isEmpty ? "" : "; the last lines of the log:\n\(log)")"
    }

    /// Ends the run of all tests, and the programs that tests have started. It serves waits that have no error to
    /// throw: their thread no longer answers, and the end of the test would wait for it again.
    public func endRun() -> Never {
        FileHandle.standardError.write(Data("The tests end: \(description)\n".utf8))
        TestProcess.killAll()
        _exit(1)
    }
}

/// Waits until `condition` is true, which no event announces.
/// - Parameters:
///   - what: the awaited condition, for the error.
///   - log: the state instead, for the error.
public func waitUntil(
    _ what: String, within seconds: Double = Deadline.standard, log: @autoclosure () -> String = "",
    _ condition: () throws -> Bool
) throws {
    let deadline = Deadline(within: seconds)
    while try !condition() {
        guard !deadline.hasPassed else { throw deadline.timedOut(what, log: log()) }
        Deadline.pause()
    }
}

/// Like `waitUntil`, where no error can be thrown: the test has an issue instead.
/// - Returns: whether the condition became true.
@discardableResult
public func expectSoon(
    _ what: String, within seconds: Double = Deadline.standard, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () -> Bool
) -> Bool {
    do {
        try waitUntil(what, within: seconds, condition)
        return true
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return false
    }
}

/// Waits for one of poll(2)'s events of a descriptor, which also an error or the other end's closing is.
public func waitForDescriptor(
    _ descriptor: Int32, _ what: String, events: Int32 = Int32(POLLIN), until deadline: Deadline = Deadline()
) throws {
    var waited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while true {
        let count = poll(&waited, 1, deadline.milliseconds)
        if count > 0 { return }
        guard count == 0 || errno == EINTR else { throw Unexpected("poll: errno \(errno)") }
        guard !deadline.hasPassed else { throw deadline.timedOut(what) }
    }
}

/// Opens a named pipe for reading once a program writes into it; open(2) itself would wait without an end.
public func openForReading(
    namedPipe path: String, _ what: String, until deadline: Deadline = Deadline()
) throws -> Int32 {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unexpected("open \(path): errno \(errno)") }
    do { try waitForDescriptor(descriptor, what, until: deadline) } catch {
        close(descriptor)
        throw error
    }
    _ = fcntl(descriptor, F_SETFL, 0)
    return descriptor
}

/// Limits each of the calls on a socket, which then fail with `EAGAIN`.
public func limitWaits(ofSocket descriptor: Int32, to seconds: Double = Deadline.standard) {
    var time = timeval(tv_sec: Int(seconds), tv_usec: Int((seconds - seconds.rounded(.down)) * 1e6))
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}

extension DispatchSemaphore {
    /// Waits for a signal.
    public func wait(for what: String, within seconds: Double = Deadline.standard) throws {
        let deadline = Deadline(within: seconds)
        guard wait(timeout: .now() + seconds) == .success else { throw deadline.timedOut(what) }
    }

    /// Waits for a signal of the test, on a thread that serves it. Without the signal the test has failed, and the
    /// thread continues.
    public func waitInTime() { _ = wait(timeout: .now() + Deadline.standard) }

    /// Waits for a signal of a thread of the test, where no error can be thrown. Without the signal, all tests end.
    public func waitOrEndRun(_ what: String, within seconds: Double = Deadline.standard) {
        do { try wait(for: what, within: seconds) } catch { (error as? TimedOut)?.endRun() }
    }
}

extension Condition {
    /// Like that of a semaphore.
    /// - Returns: whether it became true.
    @discardableResult
    public func waitInTime(until isTrue: () -> Bool) -> Bool {
        (try? waitUntil("a condition") { update(isTrue) }) != nil
    }

    /// Waits until `isTrue`, which is called under the lock, and where no error can be thrown. Otherwise all tests end.
    public func waitOrEndRun(_ what: String, until isTrue: () -> Bool) {
        let deadline = Deadline()
        while !update(isTrue) {
            if deadline.hasPassed { deadline.timedOut(what).endRun() }
            Deadline.pause()
        }
    }
}

/// Runs a call of the player that may block for ever. If it does not return in time, all tests end.
public func endRunUnlessInTime<Result>(_ what: String, _ call: () throws -> Result) rethrows -> Result {
    let deadline = Deadline()
    let end = DispatchWorkItem { deadline.timedOut(what).endRun() }
    DispatchQueue.global().asyncAfter(deadline: .now() + deadline.seconds, execute: end)
    defer { end.cancel() }
    return try call()
}

extension NamedThread {
    /// Waits for its end. If it does not end in time, all tests end.
    public func joinOrEndRun() { endRunUnlessInTime("the end of a thread") { join() } }
}

/// An answer that another thread gives. Any thread.
public final class AwaitedValue<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    public init() {}

    public func set(_ value: Value) { self.value.set(value) }

    /// Waits for the answer. Without one, all tests end.
    public func wait(_ what: String = "an answer") -> Value {
        let deadline = Deadline()
        while true {
            if let value = value.value { return value }
            if deadline.hasPassed { deadline.timedOut(what).endRun() }
            Deadline.pause()
        }
    }
}
