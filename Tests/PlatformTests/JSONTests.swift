import Testing
@testable import Platform

@Suite("JSON")
struct JSONTests {
    @Test(
        "Of another program's text: large numbers, a name twice and a byte-order mark do not matter",
        arguments: [
            (#"{"a":7,"x":18446744073709551615,"y":[-1e999]}"#, #"{"a":7,"x":null,"y":[null]}"#),
            (#"{"x":1,"a":2,"x":3}"#, #"{"x":3,"a":2}"#), ("\u{FEFF}{\"a\":1}", #"{"a":1}"#),
            (#"[123456789012345678,1.5]"#, #"[123456789012345678,1.5]"#),
            (#"["1e999 \" 1e999",1234567,99999999999999999999]"#, #"["1e999 \" 1e999",1234567,null]"#),
        ])
    func foreign(text: String, expected: String) throws {
        #expect(try JSONValue.parseForeign(Array(text.utf8)) == JSONValue.parse(expected))
    }

    @Test(
        "Texts that are no JSON are refused",
        arguments: ["", "{", "1e999x", "\"1", "99999999999999999999,", "{\"a\":1e999"])
    func foreignMalformed(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.parseForeign(Array(text.utf8)) }
    }

    @Test(
        "is read as what it says",
        arguments: [
            ("null", JSONValue.null), ("true", true), (" false ", false), ("0", 0), ("-7", -7), ("0.5", 0.5),
            ("1e2", 100.0),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)), (#""""#, ""),
            (#""a\n\"\\\/\u00e4\ud83c\udfb5""#, "a\n\"\\/ä🎵"), ("\"Größe\"", "Größe"), (#""a\u0000b""#, "a\u{0}b"),
            ("[]", []),
            ("{}", [:]), (#"[1,"a",[null]]"#, [1, "a", [.null]]),
            (#"{"z":1,"a":{"k":[true]},"m":null}"#, ["z": 1, "a": ["k": [true]], "m": .null]),
        ] as [(String, JSONValue)])
    func parse(text: String, value: JSONValue) throws {
        #expect(try JSONValue.parse(text) == value)
    }

    @Test(
        "what is written is read back as the same",
        arguments: [
            (.null, "null"), ([true, false], "[true,false]"), (.integer(.min), "-9223372036854775808"),
            (["z": 1, "a": [], "m": [:]], #"{"z":1,"a":[],"m":{}}"#), (0.1, "0.1"), (1.0, "1.0"), (-44.1, "-44.1"),
            (.real(1.0 / 3), "0.3333333333333333"), (.real(0.1 + 0.2), "0.30000000000000004"), (1e300, "1e300"),
            ("", #""""#), ("a\n\"\\/ä🎵\u{0}\u{1B}", #""a\n\"\\/ä🎵\u0000\u001B""#), (["": "x"], #"{"":"x"}"#),
        ] as [(JSONValue, String)])
    func serialize(value: JSONValue, text: String) throws {
        #expect(value.serialized() == text)
        #expect(try JSONValue.parse(text) == value)
    }

    @Test("control characters are escaped, C1 and DEL too")
    func controls() throws {
        let text = "\u{7F}a\u{80}\u{9B}2J\u{9F}\u{A0}Größe \u{C2}"
        let written = JSONValue.string(text).serialized()
        #expect(written == #""\u007fa\u0080\u009b2J\u009f\#u{A0}Größe \#u{C2}""#)
        #expect(try JSONValue.parse(written) == .string(text))
    }

    @Test("what is not finite is written as null", arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(value: Double) {
        #expect(JSONValue.array([.real(value)]).serialized() == "[null]")
    }

    @Test(
        "what is malformed is an error with its place",
        arguments: [
            ("", 1, 1), ("[1,]", 1, 4), ("{\"a\":1,\n \"a\":2}", 2, 4), ("[1] x", 1, 5), ("nul", 1, 3),
            ("[1e999]", 1, 6),
            ("[9223372036854775808]", 1, 20), ("\"\\ud800\"", 1, 8), ("{\"a\\u0000\":1}", 1, 10), ("'a'", 1, 1),
            ("NaN", 1, 3),
        ])
    func malformed(text: String, line: Int, column: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue.parse(text) }
        guard case .malformed(let reason, line, column)? = error else {
            Issue.record("\(error.debugDescription)")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test(
        "what is not UTF-8 is malformed",
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0xEF, 0xBB, 0xBF, 0x31],
        ])
    func notUTF8(bytes: [UInt8]) {
        #expect(throws: JSONError.self) { try JSONValue.parse(bytes) }
    }

    @Test("what is nested too deep is refused, however deep")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONValue.parse(nested(64))
        #expect(throws: JSONError.tooDeep(limit: 64)) { try JSONValue.parse(nested(65)) }
        #expect(throws: JSONError.tooDeep(limit: 1)) { try JSONValue.parse(#"{"a":{}}"#, depthLimit: 1) }
        #expect(throws: JSONError.self) { try JSONValue.parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("members and elements are looked up; what is not there is nil")
    func lookUp() throws {
        let value = try JSONValue.parse(#"{"a":{"b":[1,2.5,"c",true,null]},"ä":1}"#)
        let list = value["a"]?["b"]
        #expect(list?[0]?.integer == 1)
        #expect(list?[0]?.number == 1)
        #expect(list?[1]?.number == 2.5)
        #expect(list?[1]?.integer == nil)
        #expect(list?[2]?.string == "c")
        #expect(list?[3]?.boolean == true)
        #expect(list?[4]?.isNull == true)
        #expect(value["ä"]?.integer == 1)
        for absent in [list?[5], list?[-1], list?["a"], value[0], value["b"], value["A"]] { #expect(absent == nil) }
    }

    @Test("members are set, replaced in their place, and removed")
    func change() {
        var value: JSONValue = ["a": 1, "b": 2]
        value["a"] = "one"
        value["c"] = 3
        value["b"] = nil
        value["d"] = nil
        #expect(value == ["a": "one", "c": 3])
    }
}
