import CLinux
import Platform

/// `tonearm focus`.
struct FocusCommand {
    private static let levels = ["none", "background", "limited", "full"]

    private let common: DaemonCommand
    private let level: String
    private let holds: Bool

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options + [.init("--hold")])
        common = DaemonCommand(arguments)
        holds = arguments.has("--hold")
        guard arguments.operands.count == 1, Self.levels.contains(arguments.operands[0]) else {
            throw UsageError("focus needs one of \(Self.levels.joined(separator: ", ")).")
        }
        level = arguments.operands[0]
    }

    func run() -> Int32 {
        common.run { connection throws(DaemonFailure) in
            let fields: [DaemonCommand.Member] = [.init("level", .string(level)), .init("hold", .boolean(holds))]
            common.show(try connection.ask("focus", fields)) { _ in
                holds ? "Holding the focus at \(level) until this program ends: Ctrl-C." : nil
            }
            // A signal ends the program and its connection, and so the focus that it holds.
            while holds {
                try connection.receive()
                while connection.takeLine() != nil {}
            }
        }
    }
}
