import Foundation
import Testing

@testable import Library

@Suite("Text without case and accents")
struct FoldedTextTests {
    private func words(_ text: String) -> String { String(decoding: FoldedText.words(text), as: UTF8.self) }

    @Test(
        "Words of Latin, Greek and Cyrillic letters, without punctuation",
        arguments: [
            ("Das Brötchen", "das brotchen"), ("Don't Stop – Beyoncé!", "dont stop beyonce"), ("AC/DC", "ac dc"),
            ("R.E.M.", "rem"), ("Ænima (Live)", "aenima live"), ("Straße  ﬂ", "strasse fl"), ("ＡＢ　１", "ab 1"),
            ("ŁÓDŹ", "lodz"),
            ("Sigur Rós – Ágætis byrjun", "sigur ros agaetis byrjun"), ("Trịnh Công Sơn", "trinh cong son"),
            ("Ελευθερία ΑΡΒΑΝΙΤΆΚΗ Σς", "ελευθερια αρβανιτακη σσ"), ("Кино – ЁЛКА, Й", "кино елка и"),
            ("久石 譲", "久石 譲"), ("  !? ", ""), ("x\u{1}\ny", "x y"), ("😀a", "😀a"),
        ])
    func words(text: String, folded: String) { #expect(words(text) == folded) }

    @Test("Letters and their marks are composed as Unicode does it")
    func composed() {
        let ranges = [0xC0...0x24F, 0x386...0x3CE, 0x400...0x52F, 0x1E00...0x1EFF, 0x3040...0x30F4, 0xAC00...0xAD00]
        var wrong: [String] = []
        for value in ranges.joined() {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            let text = "a\(Character(scalar))b".precomposedStringWithCanonicalMapping
            let result = ComposedText.of(text.decomposedStringWithCanonicalMapping)
            if !result.unicodeScalars.elementsEqual(text.unicodeScalars) { wrong.append(text) }
        }
        #expect(wrong.isEmpty)
        #expect(ComposedText.of("x\u{301}") == "x\u{301}" && ComposedText.of("plain") == "plain")
    }

    @Test("Composed and decomposed letters are the same: as words, and as names of files")
    func normalForms() {
        var wrong: [String] = []
        // Symbols, and an accented ezh.
        let others = [0x1EE, 0x1EF, 0x3D3, 0x3D4]
        for scalar in Array(0xC0...0x24F) + Array(0x370...0x45F) + Array(0x1E00...0x1FFF) {
            guard !others.contains(scalar), let scalar = Unicode.Scalar(scalar), Character(scalar).isLetter
            else { continue }
            let text = String(Character(scalar))
            let decomposed = text.decomposedStringWithCanonicalMapping
            let lower = text.lowercased().decomposedStringWithCanonicalMapping
            guard decomposed.unicodeScalars.count > 1, decomposed.unicodeScalars.dropFirst().allSatisfy(isMark) else {
                continue
            }
            let (name, plain) = (FoldedText.name(text), words(text))
            if plain != words(decomposed) || plain != words(lower) || name != FoldedText.name(decomposed)
                || name == FoldedText.name(plain)
            {
                wrong.append(text)
            }
        }
        #expect(wrong.isEmpty)
    }

    private func isMark(_ scalar: Unicode.Scalar) -> Bool { (0x300...0x36F).contains(scalar.value) }

    @Test("Capitals are small letters")
    func capitals() {
        for scalar in Array(0x41...0x17F) + Array(0x391...0x3CE) + Array(0x400...0x45F) {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            let text = String(Character(scalar))
            // A capital of two letters, or one that another alphabet has, is no spelling of the same name.
            guard text.lowercased().unicodeScalars.count == 1, text.lowercased() != text else { continue }
            #expect(FoldedText.name(text) == FoldedText.name(text.lowercased()), "\(text)")
        }
        #expect(FoldedText.name("Bär.FLAC") == FoldedText.name("ba\u{308}r.flac"))
        #expect(FoldedText.name("Bär") != FoldedText.name("Bar"))
    }
}
