import Platform

/// A QR code as text: two modules above each other are one character.
enum QRText {
    /// The light modules around the code (ISO/IEC 18004, 6.3.8).
    private static let quietZone = 4

    /// Returns the number of columns of the text.
    static func width(of code: QRCode) -> Int { code.size + 2 * quietZone }

    /// Returns lines for a terminal, dark on light whatever its own colours are.
    static func lines(of code: QRCode) -> [String] {
        stride(from: -quietZone, to: code.size + quietZone, by: 2).map { row in
            var line = "\u{1B}[30;47m"
            for column in -quietZone..<(code.size + quietZone) {
                switch (code.isDark(row: row, column: column), code.isDark(row: row + 1, column: column)) {
                case (true, true): line += "█"
                case (true, false): line += "▀"
                case (false, true): line += "▄"
                case (false, false): line += " "
                }
            }
            return line + "\u{1B}[0m"
        }
    }
}
