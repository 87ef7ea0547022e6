import Testing

@testable import Platform

@Suite("Texts of forms")
struct FormTextTests {
    @Test(
        "Fields",
        arguments: [
            ("a=1&b=2", ["a", "1", "b", "2"]), ("a+b=c%20d%2B", ["a b", "c d+"]), ("a=b=c&&d", ["a", "b=c", "d", ""]),
            ("%C3%A4=%c3%b6", ["ä", "ö"]), ("", []), ("=x", ["", "x"]),
        ])
    func fields(text: String, expected: [String]) {
        #expect(FormText.fields(of: Array(text.utf8))?.flatMap { [$0.name, $0.value] } == expected)
    }

    @Test("Escapes and texts that are not valid", arguments: ["a=%", "a=%4", "a=%zz", "%FF=a"])
    func invalid(text: String) {
        #expect(FormText.fields(of: Array(text.utf8)) == nil)
    }

    @Test("Written fields are read again")
    func roundTrip() throws {
        let text = FormText.text(of: [("grant type", "urn:ietf:params"), ("ä", "1+1=2&x")])
        #expect(text == "grant%20type=urn%3Aietf%3Aparams&%C3%A4=1%2B1%3D2%26x")
        let fields = try #require(FormText.fields(of: Array(text.utf8)))
        #expect(fields.map(\.name) == ["grant type", "ä"] && fields.map(\.value) == ["urn:ietf:params", "1+1=2&x"])
    }
}
