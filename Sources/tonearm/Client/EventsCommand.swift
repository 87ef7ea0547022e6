import Platform

/// `tonearm events`.
struct EventsCommand {
    private let common: DaemonCommand

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options)
        common = DaemonCommand(arguments)
        if let word = arguments.operands.first { throw UsageError("events takes no \(word).") }
    }

    func run() -> Int32 {
        common.run { connection throws(DaemonFailure) in
            common.show(try connection.ask("events")) { Self.text($0) }
        }
    }

    private static func text(_ reply: JSONValue) -> String {
        let recorded = reply["recorded"]?.elements?.compactMap { $0.string } ?? []
        guard !recorded.isEmpty else { return "No events are recorded ([events], [service] url)." }
        func number(_ name: String) -> Int64 { reply[name]?.integer ?? 0 }
        return """
            recorded:  \(recorded.joined(separator: ", "))
            waiting:   \(number("waiting")) (\(number("bytes") / 1000) kB)
            sent:      \(number("sent"))
            refused:   \(number("refused"))
            dropped:   \(number("dropped"))
            """
    }
}
