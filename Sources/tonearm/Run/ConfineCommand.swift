import Confinement
import Platform

import CLinux

/// `tonearm confine`: a program as another user, without privileges, for systems without systemd.
struct ConfineCommand {
    private static let options: [Arguments.Option] = [.init("--realtime-priority", value: "N")]

    private let user: String
    private let program: [String]
    private let priority: UInt64
    private let console = Console()

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: Self.options)
        guard arguments.operands.count >= 2 else {
            throw UsageError("confine needs a user and a program: tonearm confine USER -- PROGRAM.")
        }
        user = arguments.operands[0]
        program = Array(arguments.operands.dropFirst())
        let text = arguments.value(of: "--realtime-priority") ?? "0"
        guard let priority = UInt64(text), priority <= 99 else {
            throw UsageError("--realtime-priority \(text): 0 to 99.")
        }
        self.priority = priority
    }

    /// - Returns: the exit code, when the program was not started.
    func run() -> Int32 {
        guard let account = SystemAccount(named: user) else { return fail("there is no user \(user) in /etc/passwd") }
        guard tonearm_become_user(account.user, account.group, account.groups, account.groups.count, priority) == 0
        else { return fail("the process cannot become \(user): \(SystemError.last("confine", user).reason)") }
        // A kernel without filters of system calls runs it without one, as systemd does.
        if let machine = SystemCallFilter.Machine.current, !SystemCallFilter.ofEngine(machine).install() {
            Log.warning("the kernel has no filters of system calls")
        }
        var words: [UnsafeMutablePointer<CChar>?] = program.map { strdup($0) }
        words.append(nil)
        execv(program[0], words)
        return fail(SystemError.last("execute", program[0]).description)
    }

    private func fail(_ reason: String) -> Int32 {
        console.complain(reason)
        return ExitCode.failed
    }
}
