import Testing

@testable import Platform

@Suite("Suggestions for a mistyped word")
struct SuggestionTests {
    private static let commands = ["play", "devices", "probe"]

    @Test(
        "The nearest word within half of the letters and three, or the only one that is begun; no case, no dashes",
        arguments: [
            ("paly", "play"), ("PLAY", "play"), ("pley", "play"), ("device", "devices"), ("dev", "devices"),
            ("prob", "probe"), ("pl", "play"), ("p", nil), ("help", nil), ("x", nil), ("", nil), ("dvics", "devices"),
        ] as [(String, String?)])
    func closest(word: String, candidate: String?) {
        #expect(Suggestion.nearest(to: word, among: Self.commands) == candidate)
    }

    @Test(
        "letters inserted, removed, replaced, swapped",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "acb", 1),
            ("abc", "xabc", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("abcd", "badc", 2),
        ])
    func distance(left: String, right: String, distance: Int) {
        #expect(Suggestion.distance(Array(left.utf8), Array(right.utf8)) == distance)
    }

    @Test("a long word is compared with nothing, and shortened in messages")
    func longWords() {
        let word = String(repeating: "a", count: 32)
        #expect(Suggestion.nearest(to: word, among: [word]) == word)
        #expect(Suggestion.nearest(to: word + "a", among: [word + "a"]) == nil)
        #expect(Suggestion.quoted(word) == word)
        #expect(Suggestion.quoted(String(repeating: "ä", count: 1000)) == String(repeating: "ä", count: 64) + "…")
    }
}
