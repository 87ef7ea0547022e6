import CLinux
import Platform
import Synchronization

/// Text on its way to a descriptor of the process: stdout or stderr.
struct TextOutput {
    let descriptor: Int32

    static let standard = TextOutput(descriptor: STDOUT_FILENO)
    static let error = TextOutput(descriptor: STDERR_FILENO)

    /// errno of the first write to stdout that failed; 0 as long as none has.
    private static let firstError = Atomic<Int32>(0)

    /// Why something that was written to stdout did not get there; nil as long as everything did.
    static var failure: SystemError? {
        let code = firstError.load(ordering: .relaxed)
        return code == 0 ? nil : SystemError(code: code, operation: "write")
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }
    /// False for a terminal on which another job is in front now, whose display is not to be disturbed.
    var isInFront: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
    /// Of the terminal; 0 where there is none or it does not know.
    var columns: Int { Int(tonearm_terminal_columns(descriptor)) }

    /// Writes all of `text`; what fits into a pipe's buffer is not torn apart.
    /// - Returns: false when nobody reads any more, or it cannot be written.
    @discardableResult
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { all in
            var done = 0
            while done < all.count {
                let count = CLinux.write(descriptor, all.baseAddress! + done, all.count - done)
                if count >= 0 {
                    done += count
                    continue
                }
                let error = tonearm_errno()
                if !canGoOn(after: error) {
                    remember(error)
                    return false
                }
            }
            return true
        }
    }

    private func remember(_ error: Int32) {
        guard descriptor == STDOUT_FILENO else { return }
        _ = Self.firstError.compareExchange(expected: 0, desired: error, ordering: .relaxed)
    }

    /// Whether a write only has to be tried again: interrupted, or the other side set the descriptor to
    /// non-blocking and is slow.
    private func canGoOn(after error: Int32) -> Bool {
        switch error {
        case EINTR: return true
        case EAGAIN:
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&room, 1, -1) >= 0 || tonearm_errno() == EINTR
        default: return false
        }
    }
}
