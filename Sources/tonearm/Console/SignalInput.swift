import CLinux
import Platform

/// The signals that matter to a program that plays, as events of the main loop.
///
/// Thread: the loop's; made before any other thread is started.
final class SignalInput {
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let terminal = [SIGTSTP, SIGCONT, SIGWINCH]

    /// Those of `ending` that were not ignored from the start, as nohup(1) has it.
    private let handled: [Int32]
    var receive: (Int32) -> Void = { _ in }

    init(loop: EventLoop) throws(SystemError) {
        handled = Self.ending.filter { tonearm_signal_is_ignored($0) == 0 }
        // A reader that goes away is an error of write(2); here it would leave the terminal as it is.
        tonearm_ignore_signal(SIGPIPE)
        try loop.onSignal(handled + Self.terminal) { [self] signal in receive(signal) }
    }

    /// Gives the ending signals back their usual effect.
    func release() { tonearm_release_signals(handled, Int32(handled.count)) }

    /// Ends the program as this signal does by default, if it still runs by then. After `release`.
    static func end(by signal: Int32, afterMilliseconds milliseconds: Int) {
        if tonearm_signal_later(signal, Int32(milliseconds)) != 0 {
            Log.warning("the end of the program has no time limit: \(SystemError.last("timer_create"))")
        }
    }

    /// Ends the program as this signal does by default; SIGPIPE stands for output that nobody takes any more.
    /// - Returns: the exit code, where that was no closed pipe but an error, which is still to be reported.
    static func end(by signal: Int32) -> Int32 {
        if signal == SIGPIPE, let failure = TextOutput.failure, failure.code != EPIPE { return ExitCode.failed }
        tonearm_die_of_signal(signal)
        return 128 + signal
    }
}
