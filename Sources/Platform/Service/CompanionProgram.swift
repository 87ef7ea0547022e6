import CLinux

/// A program that works for this process, connected by a socket of packets. The end of this object kills it.
///
///     let program = try CompanionProgram(at: "/usr/bin/tonearm-pictures", name: "tonearm-pictures")
///     if program.send(request, with: (picture.descriptor, result.descriptor)) {
///         program.receive(16, atMost: 5_000_000_000)
///     }
///
/// Thread: one at a time, but `kill` is for any. A thread of its own waits for the program's end.
package final class CompanionProgram: Sendable {
    /// An answer, or its absence.
    package enum Arrival: Equatable {
        case packet([UInt8])
        /// Nothing in time.
        case nothing
        /// The program has ended.
        case end
    }

    private let connection: Int32
    private let process: ChildProcess

    /// Starts the program without arguments, environment and other files than the log.
    /// - Throws: ENOENT, EACCES, EAGAIN, ENOMEM, EMFILE…
    package init(at path: String, name: String) throws(SystemError) {
        var connection: Int32 = -1
        let number = FileName.withBytes(of: path) { path in
            FileName.withBytes(of: name) { tonearm_start_companion(path, $0, &connection) }
        }
        guard number > 0 else { throw .last("start", path) }
        self.connection = connection
        let process = ChildProcess(number)
        self.process = process
        do throws(SystemError) {
            _ = try NamedThread.start(name: "companion", stackSize: 64 << 10) { process.waitForEnd() }
        } catch {
            process.kill()
            process.waitForEnd()
            throw error
        }
    }

    deinit {
        kill()
        close(connection)
    }

    /// Kills the program; `receive` gets its end. Idempotent.
    package func kill() { process.kill() }

    /// Sends a packet with two open files.
    /// - Returns: false when the program has ended.
    package func send(_ bytes: [UInt8], with files: (Int32, Int32)) -> Bool {
        bytes.withUnsafeBytes {
            tonearm_send_with_files(connection, $0.baseAddress, $0.count, files.0, files.1) == 0
        }
    }

    /// Waits for the next packet.
    /// - Parameters:
    ///   - size: the maximum number of bytes of a packet; more are cut off.
    ///   - limit: the longest wait, in nanoseconds.
    package func receive(_ size: Int, atMost limit: Int64) -> Arrival {
        let end = nanoseconds(of: CLOCK_MONOTONIC) + limit
        var bytes = [UInt8](repeating: 0, count: size)
        while true {
            let count = bytes.withUnsafeMutableBytes { tonearm_receive_packet(connection, $0.baseAddress, $0.count) }
            if count > 0 { return .packet(Array(bytes.prefix(count))) }
            if count == 0 { return .end }
            guard [EAGAIN, EINTR].contains(tonearm_errno()) else { return .end }
            let left = end - nanoseconds(of: CLOCK_MONOTONIC)
            guard left > 0 else { return .nothing }
            var waited = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            _ = poll(&waited, 1, Int32(clamping: (left + 999_999) / 1_000_000))
        }
    }
}

/// A child of this process. `@unchecked Sendable` is safe because `lock` guards the state.
private final class ChildProcess: @unchecked Sendable {
    private let number: pid_t
    private let lock = Lock()
    /// Whether the program has ended. Its process number may belong to another process then.
    private var isOver = false

    init(_ number: pid_t) { self.number = number }

    func kill() { lock.withLock { if !isOver { CLinux.kill(number, SIGKILL) } } }

    func waitForEnd() {
        tonearm_await_end(number)
        lock.withLock {
            tonearm_forget_process(number)
            isOver = true
        }
    }
}

/// A file in memory that belongs to this process, and to those that get its descriptor.
public struct MemoryFile: ~Copyable {
    public let descriptor: Int32

    /// - Throws: EMFILE, ENFILE, ENOMEM.
    public init(_ name: String) throws(SystemError) {
        descriptor = FileName.withBytes(of: name) { tonearm_open_memory($0) }
        if descriptor < 0 { throw .last("memfd_create", name) }
    }

    deinit { close(descriptor) }

    /// Writes all of the bytes.
    /// - Throws: ENOMEM, EFBIG…
    public func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes {
                tonearm_pwrite(descriptor, $0.baseAddress, $0.count, offset + Int64(done))
            }
            guard count > 0 else { throw .last("write", "memory") }
            done += count
        }
    }

    /// Returns the first bytes.
    /// - Returns: nil when there are fewer.
    public func read(_ count: Int) -> [UInt8]? {
        let bytes = read(count, at: 0)
        return bytes.count == count ? bytes : nil
    }

    /// Returns the bytes from `offset` on, fewer at the end.
    public func read(_ count: Int, at offset: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes[done...].withUnsafeMutableBytes {
                tonearm_pread(descriptor, $0.baseAddress, $0.count, Int64(offset + done))
            }
            guard read > 0 else { break }
            done += read
        }
        bytes.removeLast(count - done)
        return bytes
    }
}
