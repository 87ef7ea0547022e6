import CLinux
import Platform
import Synchronization

/// Text for a descriptor of the process: stdout or stderr.
struct TextOutput {
    let descriptor: Int32

    static let standard = TextOutput(descriptor: STDOUT_FILENO)
    static let error = TextOutput(descriptor: STDERR_FILENO)

    /// The errno of the first failed write to stdout; 0 without one.
    private static let firstError = Atomic<Int32>(0)

    /// Why a write to stdout failed; nil when none did.
    static var failure: SystemError? {
        let code = firstError.load(ordering: .relaxed)
        return code == 0 ? nil : SystemError(code: code, operation: "write")
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }
    /// False for a terminal that another job uses now.
    var isInFront: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
    /// The columns of the terminal; 0 without one, or when it does not report them.
    var columns: Int { Int(tonearm_terminal_columns(descriptor)) }

    /// Writes all of `text`; a text that fits into a pipe's buffer is written as a whole.
    /// - Returns: false when the reader has closed the output, or it cannot be written.
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
                if !canProceed(after: error) {
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

    /// Returns whether a write only has to be retried: it was interrupted, or the other side made the descriptor
    /// non-blocking and is slow.
    private func canProceed(after error: Int32) -> Bool {
        switch error {
        case EINTR: return true
        case EAGAIN:
            var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&room, 1, -1) >= 0 || tonearm_errno() == EINTR
        default: return false
        }
    }
}
