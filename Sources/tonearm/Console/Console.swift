/// What a command says: results on stdout, complaints on stderr. Where both are one terminal with a line at the bottom
/// that is drawn again and again, a complaint goes above that line.
///
/// Thread: the main thread alone.
/// `@unchecked Sendable` is safe because the main thread alone uses it.
final class Console: @unchecked Sendable {
    private let output = TextOutput.standard
    private let errors = TextOutput.error
    /// What the terminal's last line shows; empty when it is free.
    private var line = ""

    private static let eraseLine = "\r\u{1B}[K"

    /// Whether results go to a terminal, where a person reads them.
    var isTerminal: Bool { output.isTerminal }
    /// Columns of that terminal.
    var columns: Int {
        let known = output.columns
        return known > 0 ? known : 80
    }

    /// Writes a result and ends its line.
    /// - Returns: false when nobody reads results any more.
    @discardableResult
    func print(_ text: String) -> Bool { output.write(text + "\n") }

    /// Says what went wrong: `tonearm: <text>`. Control characters, which a file's name may have, do not get through.
    func complain(_ text: String) {
        if !line.isEmpty { output.write(Self.eraseLine) }
        errors.write("tonearm: \(DisplayText.visible(text))\n")
        if !line.isEmpty { output.write(line) }
    }

    /// Shows `text` as the terminal's last line, in place of what was there. It must fit. Nothing is shown while
    /// another job has the terminal.
    func draw(_ text: String) {
        guard text != line, output.isInFront else { return }
        output.write(Self.eraseLine + text)
        line = text
    }

    /// Leaves the last line as it is and goes to the next one.
    func endLine() {
        if !line.isEmpty { output.write("\n") }
        line = ""
    }

    /// The terminal is not what it was: its size has changed, or another program has written on it.
    func forgetLine() {
        if !line.isEmpty { output.write(Self.eraseLine) }
        line = ""
    }
}
