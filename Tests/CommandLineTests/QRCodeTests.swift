import Foundation
import Platform
import TestSupport
import Testing

@testable import tonearm

@Suite("QR codes")
struct QRCodeTests {
    /// The text that zbarimg reads in a picture of the code.
    private func scanned(_ code: QRCode) throws -> String {
        let folder = try ScratchFolder()
        let (zone, scale) = (4, 6)
        let side = (code.size + 2 * zone) * scale
        var picture = Array("P5 \(side) \(side) 255\n".utf8)
        for row in 0..<side {
            for column in 0..<side {
                let isDark = code.isDark(row: row / scale - zone, column: column / scale - zone)
                picture.append(isDark ? 0 : 255)
            }
        }
        try Data(picture).write(to: URL(fileURLWithPath: folder["code.pgm"]))
        return try TestProcess.run(
            "/usr/bin/zbarimg",
            ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", "-Sbinary", folder["code.pgm"]]
        ).text
    }

    @Test(
        "A foreign reader finds the text, in the smallest version that holds it",
        arguments: [
            (1, 21), (17, 21), (18, 25), (32, 25), (33, 29), (53, 29), (54, 33), (78, 33), (79, 37), (106, 37),
            (107, 41), (134, 41),
        ])
    func read(count: Int, size: Int) throws {
        let whole = "https://nas.local:7470/link?code=WDJB-MJHT#" + String(repeating: "abcXYZ019-._~ä", count: 8)
        let text = String(decoding: Array(whole.utf8.prefix(count)), as: UTF8.self)
        // The last character may be half of one.
        let valid = text.utf8.count == count ? text : String(repeating: "x", count: count)
        let code = try #require(QRCode(valid))
        #expect(code.size == size)
        #expect(try scanned(code) == valid)
    }

    @Test("Longer texts have no code here")
    func tooLong() {
        #expect(QRCode(String(repeating: "a", count: 135)) == nil)
    }

    @Test("Text for a terminal: all modules, and a light border of four")
    func text() throws {
        let code = try #require(QRCode("a"))
        let lines = QRText.lines(of: code)
        #expect(lines.count == 15 && QRText.width(of: code) == 29)
        for (index, line) in lines.enumerated() {
            let cells = Array(line.dropFirst("\u{1B}[30;47m".count).dropLast("\u{1B}[0m".count))
            try #require(cells.count == 29)
            for (column, cell) in cells.enumerated() {
                let row = 2 * index - 4
                #expect(("█▀".contains(cell)) == code.isDark(row: row, column: column - 4))
                #expect(("█▄".contains(cell)) == code.isDark(row: row + 1, column: column - 4))
            }
        }
    }
}
