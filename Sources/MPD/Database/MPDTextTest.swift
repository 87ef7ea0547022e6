import Appliance
import Library
import Platform

/// A test of the text of a tag or a URI.
struct MPDTextTest: Sendable {
    enum Kind: Sendable {
        case equals, contains
        case matches(MPDPattern)
    }

    let kind: Kind
    /// The text to compare with, without case and accents if `ignoresCase`.
    let value: [UInt8]
    let ignoresCase: Bool
    let isNegated: Bool

    init(_ kind: Kind, _ value: [UInt8], ignoresCase: Bool, isNegated: Bool = false) {
        self.kind = kind
        self.ignoresCase = ignoresCase
        self.isNegated = isNegated
        if ignoresCase {
            var folded: [UInt8] = []
            FoldedText.append(value[...], to: &folded)
            self.value = folded
        } else {
            self.value = value
        }
    }

    /// Whether the test reads the folded text.
    var usesFolded: Bool {
        switch kind {
        case .equals, .contains: ignoresCase
        case .matches: false
        }
    }

    /// Tests a text, before negation.
    /// - Parameter text: folded if `usesFolded`.
    func finds(_ text: ArraySlice<UInt8>) -> Bool {
        switch kind {
        case .equals: text.elementsEqual(value)
        case .contains: ByteSearch.contains(value, in: text)
        case .matches(let pattern): pattern.matches(text)
        }
    }

    /// Returns whether the tags contain no match, so that they need not be tested one by one.
    func cannotFind(in tags: [UInt8]) -> Bool {
        switch kind {
        case .equals, .contains: !value.isEmpty && !ByteSearch.contains(value, in: tags[...])
        case .matches: false
        }
    }
}

/// A regular expression that several threads may use.
/// `@unchecked Sendable` is safe because regexec(3) is thread-safe.
final class MPDPattern: @unchecked Sendable {
    private let expression: RegularExpression

    init(_ text: String, ignoresCase: Bool) throws(MPDFailure) {
        do throws(RegularExpression.Mistake) {
            expression = try RegularExpression(text, ignoresCase: ignoresCase)
        } catch {
            throw MPDFailure(.argument, "Error in regex: \(error.reason)")
        }
    }

    func matches(_ text: ArraySlice<UInt8>) -> Bool { expression.matches(text) }
}
