import Appliance
import Platform
import Player

/// `tonearm login` and `tonearm logout`.
struct LoginCommand {
    private let arguments: Arguments
    private let console = Console()
    private let json: Bool
    private let logsOut: Bool

    /// - Parameter name: `login` or `logout`.
    init(_ name: String, _ words: [String]) throws(UsageError) {
        arguments = try Arguments(parsing: words, knowing: ServiceAccess.options + [.init("--json")])
        if let operand = arguments.operands.first { throw UsageError("\(operand): \(name) takes no operand.") }
        try ServiceAccess.check(arguments)
        json = arguments.has("--json")
        logsOut = name == "logout"
    }

    /// - Returns: the exit code.
    func run() -> Int32 {
        let access: ServiceAccess
        do throws(ServiceAccess.Problem) { access = try ServiceAccess(arguments) } catch {
            for line in error.lines { console.complain(line) }
            return error.exitCode
        }
        let cancellation: Cancellation
        do throws(SystemError) { cancellation = try Cancellation() } catch { return fail(error.description) }
        do throws(LoginFailure) {
            if logsOut { try logOut(access, cancellation) } else { try logIn(access, cancellation) }
            return ExitCode.fine
        } catch {
            return fail(error.text(of: access.address))
        }
    }

    private func logIn(_ access: ServiceAccess, _ cancellation: Cancellation) throws(LoginFailure) {
        try access.account.logIn(cancellation: cancellation) { prompt in
            if json { show(prompt) } else { notify(prompt, access.address) }
        }
        if json { return done() }
        console.print(access.isOfDaemon ? "Logged in. The daemon uses it from now on." : "Logged in.")
    }

    private func logOut(_ access: ServiceAccess, _ cancellation: Cancellation) throws(LoginFailure) {
        let isHeard = try access.account.logOut(cancellation: cancellation)
        if isHeard == false {
            console.complain("warning: \(access.address) has not confirmed it. The tokens are removed from here.")
        }
        if json { return done() }
        console.print(isHeard == nil ? "Nobody was logged in." : "Logged out.")
    }

    // MARK: Output

    private func notify(_ prompt: LoginPrompt, _ address: String) {
        console.print("To log in to \(DisplayText.visible(address)), open this page on any device:")
        console.print("    \(DisplayText.visible(prompt.address))")
        console.print("and enter the code")
        console.print("    \(DisplayText.visible(prompt.code))")
        if console.isTerminal, let code = QRCode(prompt.completeAddress ?? prompt.address),
            QRText.width(of: code) <= console.columns
        {
            console.print("or scan this:")
            for line in QRText.lines(of: code) { console.print(line) }
        }
        let minutes = (prompt.life + 59) / 60
        console.print("The code is good for \(minutes == 1 ? "a minute" : "\(minutes) minutes"). Waiting.")
    }

    private func show(_ prompt: LoginPrompt) {
        let value: JSONValue = [
            "event": "prompt", "code": .string(prompt.code), "address": .string(prompt.address),
            "completeAddress": prompt.completeAddress.map { .string($0) } ?? .null, "seconds": .integer(prompt.life),
        ]
        console.print(value.serialized())
    }

    private func done() { console.print(JSONValue.object([.init("event", "done")]).serialized()) }

    private func fail(_ message: String) -> Int32 {
        console.complain(message)
        if json {
            console.print(JSONValue.object([.init("event", "error"), .init("message", .string(message))]).serialized())
        }
        return ExitCode.failed
    }
}
