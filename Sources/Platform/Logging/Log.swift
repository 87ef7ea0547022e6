import CLinux
import Synchronization

/// The program's messages, on stderr. Any thread except the audio thread; no thread waits for the reader of the log.
///
/// journald reads the level at the start of a line (`<4>…`, sd-daemon(3)); on a terminal the level is a word.
public enum Log {
    /// The numbers are those of syslog(3).
    public enum Level: Int, Comparable, Sendable {
        /// A request that failed.
        case error = 3
        /// Something works, but not fully.
        case warning = 4
        /// Rare and important: start, stop, a device that comes or goes.
        case notice = 5
        /// Part of normal operation.
        case info = 6
        /// Only for finding mistakes.
        case debug = 7

        /// A more important level is greater.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue > right.rawValue }
    }

    private static let threshold = Atomic(Level.notice.rawValue)
    private static let output = LogOutput(descriptor: STDERR_FILENO)
    private static let lock = Lock()
    // Safe: guarded by `lock`.
    nonisolated(unsafe) private static var currentReceiver: Receiver?

    /// Receives a message instead of stderr. Called on the thread that logs.
    public typealias Receiver = @Sendable (Level, String) -> Void

    /// The receiver of messages, for a program that draws on the terminal itself; nil for stderr. Any thread; a message
    /// that is being written may still reach the old receiver.
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

    /// Writes one line; `message` is called only when `level` is important enough.
    public static func write(_ level: Level, _ message: () -> String) {
        if level >= minimumLevel { emit(level, message()) }
    }

    @inline(never)
    private static func emit(_ level: Level, _ message: String) {
        if let receiver { receiver(level, message) } else { output.write(level, message) }
    }
}
