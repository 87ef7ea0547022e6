import Platform

/// The words after a command, separated into options and operands. An option may be anywhere; after `--` every word is
/// an operand.
struct Arguments {
    /// An option of a command.
    struct Option {
        /// The name with its dashes: `--device`.
        let name: String
        /// The name of its value in the help; nil for an option without a value.
        let value: String?

        init(_ name: String, value: String? = nil) {
            self.name = name
            self.value = value
        }
    }

    private struct Given {
        let name: String
        let value: String
    }

    private var given: [Given] = []
    private(set) var operands: [String] = []

    /// - Throws: for an unknown option, a missing value, or an unexpected value.
    init(parsing words: [String], knowing options: [Option]) throws(UsageError) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard Self.isOption(word) else {
                operands.append(word)
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = options.first(where: { $0.name == name }) else {
                throw UsageError("unknown option \(name)." + Suggestion.text(for: name, among: options.map { $0.name }))
            }
            guard let what = option.value else {
                if attached != nil { throw UsageError("\(name) takes no value.") }
                given.append(Given(name: name, value: ""))
                continue
            }
            guard let value = attached ?? rest.popFirst() else {
                throw UsageError("\(name) needs a value: \(name) \(what).")
            }
            given.append(Given(name: name, value: value))
        }
    }

    /// Whether the option was given.
    func has(_ name: String) -> Bool { value(of: name) != nil }

    /// The value of an option; the last one when it was given several times.
    func value(of name: String) -> String? { given.last { $0.name == name }?.value }

    /// Whether the words ask for help, even when other words are wrong.
    static func askForHelp(_ words: [String]) -> Bool { ask(for: "--help", words) || ask(for: "-h", words) }

    /// Whether an option without a value is among the words.
    static func ask(for option: String, _ words: [String]) -> Bool { words.prefix { $0 != "--" }.contains(option) }

    /// A single dash is an ordinary file name, and `-10` a number: no option begins with a digit.
    private static func isOption(_ word: String) -> Bool {
        guard word.utf8.first == UInt8(ascii: "-"), let second = word.utf8.dropFirst().first else { return false }
        return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second)
    }

    /// Splits `--volume=40` into `--volume` and `40`.
    private static func split(_ word: String) -> (name: String, value: String?) {
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (word, nil) }
        return (String(word[..<equals]), String(word[word.utf8.index(after: equals)...]))
    }
}
