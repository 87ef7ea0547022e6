import CLinux

/// The output of log lines and their format. Any thread except the audio thread. `write` never waits for the reader of
/// the log (docs/decisions/log-without-waiting.md).
final class LogOutput: Sendable {
    let descriptor: Int32
    let isTerminal: Bool
    private let writer: LogWriter

    init(descriptor: Int32) {
        self.descriptor = descriptor
        let isTerminal = isatty(descriptor) == 1
        self.isTerminal = isTerminal
        writer = LogWriter(descriptor: descriptor) { count in
            let message = "\(count) messages are missing here: the log was not read fast enough"
            return Self.line(.warning, message, isTerminal: isTerminal)
        }
    }

    func write(_ level: Log.Level, _ message: String) {
        writer.write(Self.line(level, message, isTerminal: isTerminal))
    }

    /// Returns the bytes of a line, at most `limit` including its end. Control characters are escaped: a message may
    /// quote a file's tags, but is always one line and cannot control the terminal.
    static func line(_ level: Log.Level, _ message: String, isTerminal: Bool) -> [UInt8] {
        var line = Array((isTerminal ? "tonearm: \(word(for: level))" : "<\(level.rawValue)>").utf8)
        for scalar in message.unicodeScalars {
            // Room for an ellipsis, the line end, and the longest form of one scalar.
            if line.count > limit - 16 {
                line += "…".utf8
                break
            }
            if scalar != "\t", let escaped = VisibleText.escape(scalar) {
                line += escaped.utf8
            } else {
                line += scalar.utf8
            }
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// PIPE_BUF: a pipe takes a line up to this size as a whole, or not at all.
    static let limit = 4096

    private static func word(for level: Log.Level) -> String {
        switch level {
        case .error: "error: "
        case .warning: "warning: "
        case .notice, .info: ""
        case .debug: "debug: "
        }
    }
}
