import CLinux
import Platform

/// A password while it is typed, without the terminal's own editing.
struct TypedPassword {
    private(set) var bytes: [UInt8] = []

    /// - Returns: whether the line has ended.
    mutating func type(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return true
        // DEL and BS erase a character, which may have several bytes in UTF-8.
        case 0x7F, 0x08:
            while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
        // Ctrl-U erases the line.
        case 0x15: bytes = []
        case 0..<0x20: break
        default: bytes.append(byte)
        }
        return false
    }
}

/// Reads a password from stdin: a terminal does not show it, and any other input has it in its first line.
///
/// Thread: the main thread, before any other one is started.
/// `@unchecked Sendable` is safe because the main thread alone uses it.
final class PasswordInput: @unchecked Sendable {
    enum Outcome: Equatable {
        case password([UInt8])
        /// A signal has ended the input.
        case signal(Int32)
    }

    /// The most bytes that are read.
    private static let limit = 4096

    private let loop: EventLoop
    private var terminal: Terminal?
    private var typed = TypedPassword()
    private var outcome: Outcome?

    private init(loop: EventLoop, _ terminal: consuming Terminal) {
        self.loop = loop
        self.terminal = consume terminal
    }

    /// - Parameter question: the text for a terminal.
    static func ask(_ question: String) throws(SystemError) -> Outcome {
        if isatty(STDIN_FILENO) != 1 { return .password(try firstLine()) }
        let loop = try EventLoop()
        // Before the terminal is changed: a signal must not leave it so.
        let signals = try SignalInput(loop: loop)
        guard let terminal = Terminal(STDIN_FILENO) else {
            throw SystemError(code: EIO, operation: "read", subject: "the terminal")
        }
        let input = PasswordInput(loop: loop, terminal)
        signals.receive = { input.receive(signal: $0) }
        TextOutput.error.write(question)
        try loop.watch(STDIN_FILENO, for: .readable) { _ in input.read() }
        loop.run()
        input.terminal = nil
        TextOutput.error.write("\n")
        signals.release()
        return input.outcome ?? .password(input.typed.bytes)
    }

    private func receive(signal: Int32) {
        // Ignored: the command stays in the foreground, and the size of the terminal does not matter.
        if signal == SIGTSTP || signal == SIGCONT || signal == SIGWINCH { return }
        end(.signal(signal))
    }

    private func read() {
        // The terminal is closed before the end of the line.
        guard let bytes = terminal?.read(), typed.bytes.count < Self.limit else { return end(.signal(SIGHUP)) }
        for byte in bytes where typed.type(byte) { return end(nil) }
    }

    private func end(_ outcome: Outcome?) {
        self.outcome = outcome
        loop.unwatch(STDIN_FILENO)
        loop.stop()
    }

    private static func firstLine() throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var byte: UInt8 = 0
            // Reads one byte at a time, because the following lines belong to the program that reads them next.
            let count = CLinux.read(STDIN_FILENO, &byte, 1)
            if count == 0 || (count > 0 && byte == UInt8(ascii: "\n")) { break }
            if count > 0 { bytes.append(byte) } else if tonearm_errno() != EINTR { throw .last("read", "stdin") }
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }
}
