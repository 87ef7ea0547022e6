import CLinux
import Platform

/// `tonearm wifi`.
struct WiFiCommand {
    private enum Action {
        case status
        case scan
        case connect(String, isHidden: Bool, passwordFile: String?)
        case forget(String)
    }

    private static let actions = ["status", "scan", "connect", "forget"]
    /// The milliseconds between two questions to the daemon.
    private static let pause: Int32 = 500

    private let common: DaemonCommand
    private let action: Action

    init(_ words: [String]) throws(UsageError) {
        let options: [Arguments.Option] = [.init("--password-file", value: "FILE"), .init("--hidden")]
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options + options)
        common = DaemonCommand(arguments)
        let verb = arguments.operands.first ?? "status"
        let operands = Array(arguments.operands.dropFirst())
        guard Self.actions.contains(verb) else {
            throw UsageError(
                "wifi \(verb): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: verb, among: Self.actions))
        }
        let count = verb == "connect" || verb == "forget" ? 1 : 0
        // A further word may be a password, which does not belong into a message.
        guard operands.count == count else {
            throw UsageError(
                "wifi \(verb) takes \(count == 0 ? "no operand" : "one network, in quotes if its name has blanks").")
        }
        if verb != "connect", options.contains(where: { arguments.has($0.name) }) {
            throw UsageError("--password-file and --hidden go with wifi connect.")
        }
        switch verb {
        case "status": action = .status
        case "scan": action = .scan
        case "forget": action = .forget(operands[0])
        default:
            action = .connect(
                operands[0], isHidden: arguments.has("--hidden"), passwordFile: arguments.value(of: "--password-file"))
        }
    }

    func run() -> Int32 {
        switch action {
        case .status:
            return common.run { connection throws(DaemonFailure) in
                common.show(try connection.ask("wifi-status")) { WiFiText.lines($0).joined(separator: "\n") }
            }
        case .scan:
            return send(
                "wifi-scan", [], WiFiAttempt(network: nil),
                "The system looks for networks. `tonearm wifi` lists them in some seconds.")
        case .forget(let network):
            return send(
                "wifi-forget", [.init("ssid", .string(network))], WiFiAttempt(network: nil), network + " is forgotten.")
        case .connect(let network, let isHidden, let file): return connect(network, isHidden, file)
        }
    }

    private func connect(_ network: String, _ isHidden: Bool, _ file: String?) -> Int32 {
        let password: [UInt8]
        do throws(SystemError) {
            if let file {
                password = Array(try File.contents(of: file, limit: 4096).prefix { $0 != 0x0A && $0 != 0x0D })
            } else {
                let question = "Password of " + DisplayText.visible(network) + " (empty for an open network): "
                switch try PasswordInput.ask(question) {
                case .password(let bytes): password = bytes
                case .signal(let number): return SignalInput.end(by: number)
                }
            }
        } catch {
            common.console.complain(error.description)
            return ExitCode.failed
        }
        var fields: [DaemonCommand.Member] = [.init("ssid", .string(network)), .init("hidden", .boolean(isHidden))]
        if !password.isEmpty {
            guard let text = String(validating: password, as: UTF8.self) else {
                common.console.complain("the password is not UTF-8.")
                return ExitCode.failed
            }
            fields.append(.init("password", .string(text)))
        }
        return send("wifi-connect", fields, WiFiAttempt(network: network), "Connected to " + network + ".")
    }

    /// Sends a request, and waits for its outcome.
    /// - Parameter text: the result for the user.
    private func send(
        _ request: String, _ fields: [DaemonCommand.Member], _ attempt: WiFiAttempt, _ text: String
    ) -> Int32 {
        common.run { connection throws(DaemonFailure) in
            try connection.ask(request, fields)
            let clock = SystemMonotonicClock()
            let begin = clock.now()
            while true {
                let status = try connection.ask("wifi-status")
                switch attempt.verdict(status.value, after: Double(clock.now() - begin) / 1e9) {
                case .waits:
                    // Ends early when the daemon does.
                    var waited = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
                    _ = poll(&waited, 1, Self.pause)
                case .done: return common.show(status) { _ in text }
                case .failed(let reason):
                    if common.json { common.console.print(status.line) }
                    throw .refused(code: "system", message: reason)
                }
            }
        }
    }
}
