import CLinux
import Synchronization

/// The program's messages to whoever runs it, on stderr. Any thread but the audio thread.
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
        output.write(level, message())
    }
}
