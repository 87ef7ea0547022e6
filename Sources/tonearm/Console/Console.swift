/// The output of a command: results on stdout, messages on stderr. When both are one terminal with a live line at the
/// bottom, a message is printed above that line.
///
/// Thread: only the main thread.
/// `@unchecked Sendable` is safe because the main thread alone uses it.
final class Console: @unchecked Sendable {
    private let output = TextOutput.standard
    private let errors = TextOutput.error
    /// The text of the terminal's last line; empty when it is free.
    private var line = ""

    private static let eraseLine = "\r\u{1B}[K"

    /// Whether results go to a terminal.
    var isTerminal: Bool { output.isTerminal }
    /// The number of columns of that terminal.
    var columns: Int {
        let known = output.columns
        return known > 0 ? known : 80
    }

    /// Writes a result as a line.
    /// - Returns: false when the reader has closed the output.
    @discardableResult
    func print(_ text: String) -> Bool { output.write(text + "\n") }

    /// Writes an error: `tonearm: <text>`. Control characters, which file names may have, are escaped.
    func complain(_ text: String) {
        if !line.isEmpty { output.write(Self.eraseLine) }
        errors.write("tonearm: \(DisplayText.visible(text))\n")
        if !line.isEmpty { output.write(line) }
    }

    /// Shows `text` as the terminal's last line, and replaces the old one. The text must fit. Does nothing while
    /// another job uses the terminal.
    func draw(_ text: String) {
        guard text != line, output.isInFront else { return }
        output.write(Self.eraseLine + text)
        line = text
    }

    /// Leaves the last line and moves to the next one.
    func endLine() {
        if !line.isEmpty { output.write("\n") }
        line = ""
    }

    /// Makes the last line be drawn again: the size of the terminal has changed, or another program has written on it.
    func forgetLine() {
        if !line.isEmpty { output.write(Self.eraseLine) }
        line = ""
    }
}
