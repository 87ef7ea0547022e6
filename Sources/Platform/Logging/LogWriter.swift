import CLinux

/// Writes lines to a descriptor without waiting for its reader. A line that the descriptor accepts now is written at
/// once. When the reader stalls, lines wait in a bounded buffer for a thread that writes them. Lines that do not fit
/// are dropped, counted, and reported when the reader continues.
///
/// `@unchecked Sendable` is safe because `lock` guards the mutable state. No thread waits while it holds the lock.
final class LogWriter: @unchecked Sendable {
    /// The maximum number of bytes that wait.
    static let capacity = 64 << 10

    private let descriptor: Int32
    /// Whether the descriptor is the kernel log, which always takes a line at once but is never writable for poll(2).
    private let isKernelLog: Bool
    /// Makes the line that reports dropped lines.
    private let report: @Sendable (_ dropped: Int) -> [UInt8]
    private let lock = Lock()
    private var waiting: [UInt8] = []
    private var dropped = 0
    /// Whether the thread runs; all lines then pass through it, so that they stay in order.
    private var hasThread = false

    init(descriptor: Int32, report: @escaping @Sendable (_ dropped: Int) -> [UInt8]) {
        self.descriptor = descriptor
        isKernelLog = tonearm_is_kernel_log(descriptor) != 0
        self.report = report
    }

    /// - Parameter line: with its end, at most PIPE_BUF bytes.
    func write(_ line: [UInt8]) {
        let needsThread = lock.withLock {
            if hasThread || !isReady {
                if dropped == 0, waiting.count + line.count <= Self.capacity {
                    waiting += line
                } else if dropped < .max {
                    dropped += 1
                }
                defer { hasThread = true }
                return !hasThread
            }
            // Uses one write(2), so that lines of several processes do not mix. The descriptor is ready, so this does
            // not wait.
            Self.write(line, to: descriptor)
            return false
        }
        if needsThread { startThread() }
    }

    private var isReady: Bool {
        if isKernelLog { return true }
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // A descriptor in error or closed counts as ready: the write fails at once.
        return poll(&room, 1, 0) != 0
    }

    private func startThread() {
        // No signal may be handled on this thread: the loop handles them on its own thread.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        do throws(SystemError) {
            _ = try NamedThread.start(name: "log", stackSize: 64 << 10) { self.drain() }
        } catch {
            // If no thread can be started, the waiting lines are lost.
            lock.withLock {
                dropped += 1
                waiting = []
                hasThread = false
            }
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Writes the waiting lines, and waits for the reader. Returns when no line is left.
    private func drain() {
        while let bytes = takeWaiting() {
            var rest = bytes[...]
            while !rest.isEmpty {
                // Whole lines, as many as a pipe takes at once.
                let end =
                    rest.prefix(LogOutput.limit).lastIndex(of: UInt8(ascii: "\n")) ?? rest.index(before: rest.endIndex)
                Self.write(Array(rest[...end]), to: descriptor)
                rest = rest[(end + 1)...]
            }
        }
    }

    /// - Returns: nil when nothing waits; the thread then ends.
    private func takeWaiting() -> [UInt8]? {
        lock.withLock {
            if waiting.isEmpty, dropped > 0 {
                waiting = report(dropped)
                dropped = 0
            }
            guard !waiting.isEmpty else {
                hasThread = false
                return nil
            }
            defer { waiting = [] }
            return waiting
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { all in
            var done = 0
            while done < all.count {
                let count = CLinux.write(descriptor, all.baseAddress! + done, all.count - done)
                if count >= 0 {
                    done += count
                } else if tonearm_errno() == EAGAIN {
                    // Another process made the descriptor non-blocking.
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    if poll(&room, 1, -1) < 0, tonearm_errno() != EINTR { return }
                } else if tonearm_errno() != EINTR {
                    // A log that cannot be written is lost: it cannot be reported anywhere.
                    return
                }
            }
        }
    }
}
