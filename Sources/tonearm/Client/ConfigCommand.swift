import Appliance
import Board
import Platform

/// `tonearm config`: the daemon's configuration, while it runs and in its file.
struct ConfigCommand {
    private static let actions = ["get", "set", "unset", "check", "show", "example"]

    private let common: DaemonCommand
    private let action: String
    private let operands: [String]
    /// The file for `check` and `show`; nil: the usual file, which may be missing.
    private let file: String?

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(
            parsing: words, knowing: DaemonCommand.options + [.init("--config", value: "FILE")])
        common = DaemonCommand(arguments)
        file = arguments.value(of: "--config")
        guard let action = arguments.operands.first else {
            throw UsageError("config needs one of \(Self.actions.joined(separator: ", ")).")
        }
        self.action = action
        operands = Array(arguments.operands.dropFirst())
        let counts: ClosedRange<Int>
        switch action {
        case "get": counts = 0...1
        case "set": counts = 2...2
        case "unset": counts = 1...1
        case "check", "show", "example": counts = 0...0
        default:
            throw UsageError(
                "config \(action): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: action, among: Self.actions))
        }
        guard counts.contains(operands.count) else {
            let form = ["set": " KEY VALUE", "get": " [KEY]", "unset": " KEY"][action] ?? ""
            throw UsageError("config \(action): the form is `tonearm config \(action)\(form)`.")
        }
        if file != nil, action != "check", action != "show" {
            throw UsageError("--config goes with config check and config show.")
        }
    }

    func run() -> Int32 {
        switch action {
        case "get": return get()
        case "set":
            return change("config-set", [.init("key", .string(operands[0])), .init("value", .string(operands[1]))])
        case "unset": return change("config-unset", [.init("key", .string(operands[0]))])
        case "example":
            common.console.print(Configuration.defaultFile)
            return ExitCode.fine
        default: return read()
        }
    }

    // MARK: The running daemon

    private func get() -> Int32 {
        common.run { connection throws(DaemonFailure) in
            let key = operands.first
            let reply = try connection.ask("config-get", key.map { [.init("key", .string($0))] } ?? [])
            common.show(reply) { value in
                let settings = value["settings"]?.elements ?? []
                if key != nil { return settings.first?["value"]?.string }
                return settings.map(Self.line).joined(separator: "\n")
            }
        }
    }

    private static func line(_ setting: JSONValue) -> String {
        let line = "\(setting["key"]?.string ?? "") = \(setting["value"]?.string ?? "")"
        let blanks = String(repeating: " ", count: max(1, 44 - line.utf8.count))
        return "\(line)\(blanks)# \(setting["origin"]?.string ?? "")"
    }

    private func change(_ request: String, _ fields: [DaemonCommand.Member]) -> Int32 {
        common.run { connection throws(DaemonFailure) in
            common.show(try connection.ask(request, fields)) { value in
                value["inForce"]?.boolean == true ? nil : "\(operands[0]) takes effect at the daemon's next start."
            }
        }
    }

    // MARK: The file

    /// Carries out `check` and `show`.
    private func read() -> Int32 {
        do throws(ConfigurationFile.Problems) {
            let configuration = try ConfigurationFile(file).read()
            if action == "show" {
                common.console.print(DisplayText.visibleLines(configuration.shown))
            } else {
                for note in configuration.notes { common.console.complain(note.description) }
                let mistakes = ConfiguredBoard(configuration).mistakes
                if !mistakes.isEmpty { throw ConfigurationFile.Problems(lines: mistakes) }
            }
            return ExitCode.fine
        } catch {
            for line in error.lines { common.console.complain(line) }
            return ExitCode.configuration
        }
    }
}
