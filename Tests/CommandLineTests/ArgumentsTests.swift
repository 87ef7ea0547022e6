import Testing
@testable import tonearm

@Suite("The words of a command line")
struct ArgumentsTests {
    private static let options: [Arguments.Option] = [
        .init("--device", value: "NAME"), .init("--volume", value: "PERCENT"), .init("--json"),
    ]

    @Test("options may stand anywhere, `--` ends them, the last one of a name counts")
    func order() throws {
        let words = ["a", "--volume", "10", "--json", "b", "--volume=20", "-", "--", "--json", "c"]
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        #expect(arguments.operands == ["a", "b", "-", "--json", "c"])
        #expect(arguments.value(of: "--volume") == "20")
        #expect(arguments.has("--json"))
        #expect(!arguments.has("--device"))
    }

    @Test(
        "a value may look like an option, be empty, or hold an equals sign",
        arguments: [
            (["--device", "--json"], "--json"), (["--device="], ""), (["--device", ""], ""),
            (["--device=file:FILE=x,FORMAT=raw"], "file:FILE=x,FORMAT=raw"),
        ])
    func values(words: [String], value: String) throws {
        #expect(try Arguments(parsing: words, knowing: Self.options).value(of: "--device") == value)
    }

    @Test(
        "errors name the mistake, with a suggestion",
        arguments: [
            (["--devise", "x"], "unknown option --devise. Did you mean --device?"),
            (["--jsno"], "unknown option --jsno. Did you mean --json?"),
            (["--vol=3"], "unknown option --vol. Did you mean --volume?"),
            (["--frobnicate"], "unknown option --frobnicate."),
            (["-x"], "unknown option -x."),
            (["--volume"], "--volume needs a value: --volume PERCENT."),
            (["--json=yes"], "--json takes no value."),
        ])
    func errors(words: [String], message: String) {
        #expect(throws: UsageError(message)) { try Arguments(parsing: words, knowing: Self.options) }
    }

    @Test(
        "help is asked for with --help or -h, not behind `--`",
        arguments: [
            (["--help"], true), (["x", "-h"], true), (["--device", "--help"], true), (["--", "--help"], false),
            ([], false),
        ])
    func help(words: [String], isAsked: Bool) {
        #expect(Arguments.askForHelp(words) == isAsked)
    }
}
