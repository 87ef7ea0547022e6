import CLinux

/// Where log lines go, and how they look there.
struct LogOutput: Sendable {
    let descriptor: Int32
    let isTerminal: Bool

    init(descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    /// Writes one line with one write(2), so that lines of several threads never mix (up to PIPE_BUF bytes on a pipe).
    func write(_ level: Log.Level, _ message: String) {
        let line = Self.line(level, message, isTerminal: isTerminal)
        line.withUnsafeBytes { bytes in
            // A log that cannot be written is lost: there is nowhere left to say so.
            while CLinux.write(descriptor, bytes.baseAddress, bytes.count) < 0 && tonearm_errno() == EINTR {}
        }
    }

    /// The bytes of a line. Control characters are escaped: a message, which may quote a file's tags, is always one
    /// line and cannot steer the terminal.
    static func line(_ level: Log.Level, _ message: String, isTerminal: Bool) -> [UInt8] {
        var line = Array((isTerminal ? "tonearm: \(word(for: level))" : "<\(level.rawValue)>").utf8)
        line.reserveCapacity(line.count + message.utf8.count + 1)
        for byte in message.utf8 {
            switch byte {
            case UInt8(ascii: "\n"): line += "\\n".utf8
            case UInt8(ascii: "\r"): line += "\\r".utf8
            case UInt8(ascii: "\t"): line.append(byte)
            case 0..<0x20, 0x7F: line += "\\x\(hexadecimal(CollectionOfOne(byte)))".utf8
            default: line.append(byte)
            }
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private static func word(for level: Log.Level) -> String {
        switch level {
        case .error: "error: "
        case .warning: "warning: "
        case .notice, .info: ""
        case .debug: "debug: "
        }
    }
}
