import Testing

@testable import Platform

@Suite("Regular expressions")
struct RegularExpressionTests {
    private func matches(_ expression: String, _ text: String, ignoresCase: Bool = false) throws -> Bool {
        try RegularExpression(expression, ignoresCase: ignoresCase).matches(Array(text.utf8)[...])
    }

    @Test("Extended expressions match parts of texts, without regard to the case of ASCII on request")
    func matching() throws {
        #expect(try matches("^The (B|S)", "The Beatles"))
        #expect(try !matches("^the", "The Beatles"))
        #expect(try matches("^the", "The Beatles", ignoresCase: true))
        #expect(try matches("[0-9]{4}$", "in 1984"))
        #expect(try !matches("x", ""))
        #expect(try matches("", ""))
    }

    @Test(
        "Expressions that are none, or cost too much, are refused with a reason",
        arguments: [
            "(", "[", "a**{", String(repeating: "a", count: 257), "(a{1,101})", "((a{1,9}){1,9}){1,9}", "(a)\\1",
        ])
    func refused(expression: String) {
        do {
            _ = try RegularExpression(expression, ignoresCase: false)
            Issue.record("accepted")
        } catch {
            #expect(!error.reason.isEmpty)
        }
    }

    @Test("Bytes in bytes")
    func bytes() {
        #expect(ByteSearch.contains([2, 3], in: [1, 2, 3][...]))
        #expect(!ByteSearch.contains([3, 2], in: [1, 2, 3][...]))
        #expect(!ByteSearch.contains([1], in: [1, 2, 3][1...]))
        #expect(ByteSearch.contains([], in: []))
        #expect(!ByteSearch.contains([1], in: []))
    }
}
