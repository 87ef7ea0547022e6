import Platform

/// The common part of all commands for the daemon.
struct DaemonCommand {
    typealias Member = JSONValue.Member

    static let options: [Arguments.Option] = [.init("--socket", value: "PATH"), .init("--json")]

    let console = Console()
    /// The path of the socket; nil: the usual one.
    private let socket: String?
    /// Whether to print the daemon's lines unchanged.
    let json: Bool

    init(_ arguments: Arguments) {
        socket = arguments.value(of: "--socket")
        json = arguments.has("--json")
    }

    func connect() throws(DaemonFailure) -> DaemonConnection { try DaemonConnection(socket) }

    /// Runs a dialogue with the daemon and reports its failure.
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

    /// Prints a reply, as text for the user or unchanged.
    func show(_ reply: DaemonConnection.Reply, _ text: (JSONValue) -> String?) {
        if let notice = reply.value["notice"]?.string { console.complain("note: \(notice)") }
        if json {
            console.print(reply.line)
        } else if let text = text(reply.value) {
            console.print(DisplayText.visibleLines(text))
        }
    }

    /// Sends paths in batches, and waits without a limit: a folder may be large, and its disk asleep.
    func bring(
        _ paths: MusicPaths, _ request: String, _ fields: [Member], _ connection: DaemonConnection
    ) throws(DaemonFailure) {
        var batches = paths.batches
        let last = batches.removeLast()
        // Only the last request adds the collected music, so either all or none of it is added.
        for batch in batches {
            try connection.ask("queue-collect", [Self.products(batch)], patience: nil)
        }
        let reply = try connection.ask(request, [Self.products(last)] + fields, patience: nil)
        show(reply) { _ in nil }
        guard let skipped = reply.value["skipped"]?.integer, skipped > 0 else { return }
        console.complain(
            skipped == 1
                ? "warning: 1 entry could not be read; the daemon's log names it"
                : "warning: \(skipped) entries could not be read; the daemon's log names them")
    }

    static func products(_ paths: ArraySlice<String>) -> Member {
        Member("products", .array(paths.map { ["path": .string($0)] }))
    }
}
