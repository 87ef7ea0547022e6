import Platform
import Testing

@Suite("Configuration text: sections of key = value")
struct SectionedTextTests {
    @Test("sections have a kind and perhaps a name; blanks, comments and CR do not count")
    func sections() throws {
        let text = SectionedText(
            parsing: Array(
                """
                # what this is

                [sound]
                  card=HiFi   # by id\r
                file = a#b = c
                [ button   play me ]
                line\t=\t17
                """.utf8))
        #expect(text.problems.isEmpty)
        #expect(text.sections.map(\.kind) == ["sound", "button"])
        #expect(text.sections.map(\.name) == [nil, "play me"])
        #expect(text.sections.map(\.title) == ["sound", "button play me"])
        #expect(text.sections.map(\.line) == [3, 6])
        #expect(text.sections[0].entries.map(\.key) == ["card", "file"])
        #expect(text.sections[0].entries.map(\.value) == ["HiFi", "a#b = c"])
        #expect(text.sections[1].entries.map(\.line) == [7])
    }

    @Test(
        "what cannot be read is a problem with its line, and does not hide the rest",
        arguments: [
            ("card = HiFi", 1, "`card = HiFi` stands before the first section"),
            ("[sound]\ncard", 2, "`card` is not `key = value`"),
            ("[sound]\ncard =", 2, "`card` has no value"),
            ("[sound]\n= HiFi", 2, "there is no key before `=`"),
            ("[sound]\ncard = a\ncard = b", 3, "`card` was given before, at line 2"),
            ("[sound]\n[button]\n[sound]\ncard = a", 3, "[sound] was there before, at line 1"),
            ("[sound", 1, "a section is written `[kind]` or `[kind name]`"),
            ("[ ]\ncard = a", 1, "a section is written `[kind]` or `[kind name]`"),
            ("[", 1, "a section is written `[kind]` or `[kind name]`"),
            ("[sound]\ncard = a\u{1}", 2, "this line is not UTF-8 text"),
        ])
    func problems(text: String, line: Int, message: String) {
        let parsed = SectionedText(parsing: Array((text + "\n[good]\nkey = value\n").utf8))
        #expect(parsed.problems == [SectionedText.Problem(line: line, message: message)])
        #expect(parsed.sections.last?.kind == "good")
        #expect(parsed.sections.last?.entries.map(\.value) == ["value"])
    }

    @Test("bytes that are not UTF-8")
    func notUTF8() {
        let parsed = SectionedText(parsing: Array("[sound]\ncard = ".utf8) + [0xFF])
        #expect(parsed.problems == [SectionedText.Problem(line: 2, message: "this line is not UTF-8 text")])
    }
}

@Suite("Configuration values")
struct SectionReaderTests {
    enum Bias: String, CaseIterable { case none, up = "pull-up" }

    func reader(_ entries: String) -> SectionReader {
        SectionReader(SectionedText(parsing: Array("[test]\n\(entries)".utf8)).sections[0])
    }

    @Test(
        "times need a unit and are within their range",
        arguments: [
            ("20 ms", 20), ("3 s", 3000), ("3s", 3000), ("0 ms", 0), ("20", nil), ("20 m", nil), ("-1 ms", nil),
            ("2.5 s", nil), ("ms", nil), ("61 s", nil), ("9223372036854775807 s", nil), ("20 ms.", nil),
        ] as [(String, Int?)])
    func milliseconds(value: String, expected: Int?) {
        var reader = reader("time = \(value)")
        #expect(reader.milliseconds("time", in: 0...60_000) == expected)
        let message = "`time` cannot be `\(value)`. Allowed: 0 ms to 60000 ms, as a whole number with the unit ms or s."
        #expect(reader.problems == (expected == nil ? [SectionedText.Problem(line: 2, message: message)] : []))
    }

    @Test(
        "levels are decibels",
        arguments: [
            ("-60 dB", -6000), ("-51.5dB", -5150), ("0 dB", 0), ("-60", nil), ("-60 %", nil), ("7 dB", nil),
            ("x dB", nil),
        ] as [(String, Int?)])
    func decibels(value: String, expected: Int?) {
        var reader = reader("level = \(value)")
        #expect(reader.hundredthsOfDecibels("level", in: -12_000...600) == expected)
        let message = "`level` cannot be `\(value)`. Allowed: -120 dB to 6 dB."
        #expect(reader.problems == (expected == nil ? [SectionedText.Problem(line: 2, message: message)] : []))
    }

    @Test("what is wrong names what is allowed, all at once")
    func strict() {
        var reader = reader("bias = sideways\ncount = 9\nlist = a, b,\ntypo = 1")
        #expect(reader.choice("bias", of: Bias.self) == nil)
        #expect(reader.integer("count", in: 1...4) == nil)
        #expect(reader.list("list") == ["a", "b", ""])
        #expect(reader.requiredText("card") == nil)
        reader.finish()
        #expect(reader.problems.map(\.line) == [2, 3, 4, 1, 5])
        #expect(
            reader.problems.map(\.message) == [
                "`bias` cannot be `sideways`. Allowed: none, pull-up.",
                "`count` cannot be `9`. Allowed: 1 to 4.",
                "`list` has nothing between two commas, or after the last",
                "[test] needs `card`",
                "[test] has no `typo`. Allowed: bias, count, list, card.",
            ])
    }

    @Test("a key that is not there is nil, and no problem")
    func absent() {
        var reader = reader("bias = pull-up")
        #expect(reader.choice("bias", of: Bias.self) == .up)
        #expect(reader.integer("count", in: 1...4) == nil)
        #expect(reader.milliseconds("time", in: 1...4) == nil)
        #expect(reader.list("list") == [])
        reader.finish()
        #expect(reader.problems.isEmpty)
    }
}
