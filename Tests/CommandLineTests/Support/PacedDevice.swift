import CLinux
import Platform
import TestSupport

/// A device that plays as fast as a test allows: a named pipe as the file of ALSA's `file` plug-in, read by a thread of
/// the test. The full pipe blocks the player. It can be ahead of the allowed bytes only by the pipe and by its own
/// buffers.
// @unchecked: `condition` guards the mutable state while the thread runs; the test reads the rest when it has ended.
final class PacedDevice: @unchecked Sendable {
    private let readEnd: Int32
    /// Held open so that the pipe is not at its end while no player has it.
    private let writeEnd: Int32
    private let condition = Condition()
    /// Guarded by `condition`.
    private var allowance = 0
    private var received: [UInt8] = []
    private var thread: NamedThread?

    /// Makes the pipe.
    init(_ path: String) throws {
        guard mkfifo(path, 0o600) == 0 else { throw SystemError.last("mkfifo", path) }
        // Either end blocks until the other is open, but for this one.
        let first = tonearm_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
        defer { close(first) }
        writeEnd = tonearm_open(path, O_WRONLY | O_CLOEXEC, 0)
        readEnd = tonearm_open(path, O_RDONLY | O_CLOEXEC, 0)
        guard writeEnd >= 0, readEnd >= 0 else { throw SystemError.last("open", path) }
        thread = try NamedThread.start(name: "paced device") { [self] in read() }
    }

    /// Lets this much through from now on, instead of the rest of an earlier allowance.
    func play(seconds: Double) {
        condition.update { allowance = Int(seconds * Double(Recording.rate)) * Recording.bytesPerFrame }
    }

    /// Lets everything through from now on.
    func playAll() { condition.update { allowance = .max / 2 } }

    /// Waits until the player has closed its side. To be called once.
    /// - Returns: all bytes that were played.
    func end() -> [UInt8] {
        playAll()
        close(writeEnd)
        thread?.joinOrEndRun()
        close(readEnd)
        return received
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            guard condition.waitInTime(until: { allowance > 0 }) else { return }
            let room = condition.update { min(buffer.count, allowance) }
            // If the player neither ends nor writes, the test finds too few bytes.
            guard (try? waitForDescriptor(readEnd, "the player")) != nil else { return }
            let count = buffer.withUnsafeMutableBytes { CLinux.read(readEnd, $0.baseAddress, room) }
            guard count > 0 else { return }
            condition.update {
                received += buffer[..<count]
                allowance = max(allowance - count, 0)
            }
        }
    }
}
