import CLinux
import Synchronization

/// The program's messages, on stderr. Any thread but the audio thread; none waits for the reader of the log.
///
/// journald reads the level from a line's beginning (`<4>…`, sd-daemon(3)); a person at a terminal gets it in words.
public enum Log {
    /// The numbers are those of syslog(3).
    public enum Level: Int, Comparable, Sendable {
        /// Something was asked for and cannot be done.
        case error = 3
        /// Something works, but not as it should.
        case warning = 4
        /// What happens seldom and matters: start, stop, a device that comes or goes.
        case notice = 5
        /// What happens in the ordinary course.
        case info = 6
        /// What only helps to find a mistake.
        case debug = 7

        /// A more important level is greater.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue > right.rawValue }
    }

    private static let threshold = Atomic(Level.notice.rawValue)
    private static let output = LogOutput(descriptor: STDERR_FILENO)
    private static let lock = Lock()
    // Safe: guarded by `lock`.
    nonisolated(unsafe) private static var currentReceiver: Receiver?

    /// Takes a message in place of stderr. It is called on the thread that logs.
    public typealias Receiver = @Sendable (Level, String) -> Void

    /// Where messages go instead of stderr: for a program that draws on the terminal itself. nil for stderr. Any
    /// thread; a message that is just being written may still arrive at the former one.
    public static var receiver: Receiver? {
        get { lock.withLock { currentReceiver } }
        set { lock.withLock { currentReceiver = newValue } }
    }

    /// The least important level that is written; `.notice` until set.
    public static var minimumLevel: Level {
        get { Level(rawValue: threshold.load(ordering: .relaxed)) ?? .notice }
        set { threshold.store(newValue.rawValue, ordering: .relaxed) }
    }

    public static func error(_ message: @autoclosure () -> String) { write(.error, message) }
    public static func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    public static func notice(_ message: @autoclosure () -> String) { write(.notice, message) }
    public static func info(_ message: @autoclosure () -> String) { write(.info, message) }
    public static func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    /// Writes one line; `message` is only made when `level` is important enough.
    public static func write(_ level: Level, _ message: () -> String) {
        guard level >= minimumLevel else { return }
        if let receiver { receiver(level, message()) } else { output.write(level, message()) }
    }
}
