import Platform

/// What all commands that talk to the daemon have in common.
struct DaemonCommand {
    typealias Member = JSONValue.Member

    static let options: [Arguments.Option] = [.init("--socket", value: "PATH"), .init("--json")]

    let console = Console()
    /// nil: the usual one.
    private let socket: String?
    /// Whether to print what the daemon says as it is.
    let json: Bool

    init(_ arguments: Arguments) {
        socket = arguments.value(of: "--socket")
        json = arguments.has("--json")
    }

    func connect() throws(DaemonFailure) -> DaemonConnection { try DaemonConnection(socket) }

    /// Runs a conversation with the daemon and complains when it fails.
    /// - Returns: the exit code.
    func run(_ converse: (DaemonConnection) throws(DaemonFailure) -> Void) -> Int32 {
        do throws(DaemonFailure) {
            try converse(try connect())
            return ExitCode.fine
        } catch {
            return fail(error)
        }
    }

    func fail(_ failure: DaemonFailure) -> Int32 {
        console.complain(failure.message)
        return failure.exitCode
    }

    /// Prints what a reply says, for a person or as it is.
    func show(_ reply: DaemonConnection.Reply, _ text: (JSONValue) -> String?) {
        if let notice = reply.value["notice"]?.string { console.complain("note: \(notice)") }
        if json {
            console.print(reply.line)
        } else if let text = text(reply.value) {
            console.print(DisplayText.visibleLines(text))
        }
    }

    static func products(_ paths: ArraySlice<String>) -> Member {
        Member("products", .array(paths.map { ["path": .string($0)] }))
    }
}
