/// A bar for the terminal's last line.
enum ProgressBar {
    /// A line that fits the terminal: `writing     [#####     ]  50 %`.
    static func line(_ name: String, percent: Int, columns: Int) -> String {
        let number = String(repeating: " ", count: max(0, 3 - "\(percent)".utf8.count)) + "\(percent) %"
        // Subtract brackets and blanks, and the last column, at which some terminals wrap.
        let room = min(columns - name.utf8.count - number.utf8.count - 5, 50)
        guard room >= 10 else { return "\(name) \(number)" }
        let full = room * min(percent, 100) / 100
        return "\(name) [\(String(repeating: "#", count: full))\(String(repeating: " ", count: room - full))] \(number)"
    }
}
