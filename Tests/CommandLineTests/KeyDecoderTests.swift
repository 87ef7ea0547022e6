import Testing
@testable import tonearm

@Suite("Keys of a terminal")
struct KeyDecoderTests {
    private static func character(_ character: Character) -> Key { .character(character.asciiValue!) }

    private static let table: [(String, [Key])] = [
        (" nq", [character(" "), character("n"), character("q")]),
        ("\u{1B}[A\u{1B}[B", [.arrow(.up, shift: false), .arrow(.down, shift: false)]),
        ("\u{1B}[C\u{1B}[D", [.arrow(.right, shift: false), .arrow(.left, shift: false)]),
        ("\u{1B}OC", [.arrow(.right, shift: false)]),
        ("\u{1B}[1;2C\u{1B}[1;2D", [.arrow(.right, shift: true), .arrow(.left, shift: true)]),
        // Ctrl and an arrow is an arrow. F5, Delete and a mouse report are ignored, and no part of them is a letter.
        ("\u{1B}[1;5C", [.arrow(.right, shift: false)]),
        ("\u{1B}[15~q", [character("q")]),
        ("\u{1B}[3~\u{1B}[<0;10;20Mn", [character("n")]),
        // Escape, and another key after it; Escape twice before an arrow.
        ("\u{1B}q", [character("q")]),
        ("\u{1B}\u{1B}[A", [.arrow(.up, shift: false)]),
        // Enter, Ctrl-D, é.
        ("\r\u{4}én", [character("n")]),
    ]

    @Test("whole sequences", arguments: table)
    func whole(bytes: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array(bytes.utf8)) == keys)
    }

    @Test("the same, a byte at a time", arguments: table)
    func inPieces(bytes: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(bytes.utf8.flatMap { decoder.decode([$0]) } == keys)
    }

    @Test("an endless sequence neither grows nor affects later keys")
    func endless() {
        var decoder = KeyDecoder()
        let keys = decoder.decode(
            Array("\u{1B}[".utf8) + Array(repeating: UInt8(ascii: "1"), count: 100_000) + Array("mq".utf8))
        #expect(keys == [Self.character("q")])
    }

    @Test(
        "the actions of the keys",
        arguments: [
            (character(" "), .pauseOrResume), (character("n"), .next), (character("p"), .previous),
            (character("b"), .previous), (character("q"), .quit), (character("x"), nil),
            (.arrow(.right, shift: false), .jump(10)), (.arrow(.left, shift: false), .jump(-10)),
            (.arrow(.up, shift: false), .volume(5)), (.arrow(.down, shift: false), .volume(-5)),
            (.arrow(.right, shift: true), .volume(5)), (.arrow(.left, shift: true), .volume(-5)),
        ] as [(Key, PlayControl?)])
    func controls(key: Key, control: PlayControl?) {
        #expect(PlayControl(key) == control)
    }
}
