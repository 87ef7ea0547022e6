import CLinux
import Platform

/// The signals that a playing program handles, as events of the main loop.
///
/// Thread: the loop's; created before any other thread is started.
final class SignalInput {
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let terminal = [SIGTSTP, SIGCONT, SIGWINCH]

    /// The signals of `ending` that were not ignored at the start, as nohup(1) does.
    private let handled: [Int32]
    var receive: (Int32) -> Void = { _ in }

    init(loop: EventLoop) throws(SystemError) {
        handled = Self.ending.filter { tonearm_signal_is_ignored($0) == 0 }
        // A closed reader is an error of write(2). The signal would leave the terminal changed.
        tonearm_ignore_signal(SIGPIPE)
        try loop.onSignal(handled + Self.terminal) { [self] signal in receive(signal) }
    }

    /// Restores the default action of the ending signals.
    func release() { tonearm_release_signals(handled, Int32(handled.count)) }

    /// Ends the program after a time with this signal's default action, if it still runs then. Call it after `release`.
    static func end(by signal: Int32, afterMilliseconds milliseconds: Int) {
        if tonearm_signal_later(signal, Int32(milliseconds)) != 0 {
            Log.warning("the end of the program has no time limit: \(SystemError.last("timer_create"))")
        }
    }

    /// Ends the program with this signal's default action; SIGPIPE is used for output without a reader.
    /// - Returns: the exit code when the output failed and was not closed; the caller reports it.
    static func end(by signal: Int32) -> Int32 {
        if signal == SIGPIPE, let failure = TextOutput.failure, failure.code != EPIPE { return ExitCode.failed }
        tonearm_die_of_signal(signal)
        return 128 + signal
    }
}
