import Platform

/// `tonearm playlist`.
struct PlaylistCommand {
    private enum Action {
        case list
        case show(String)
        case play(String)
        case save(String, replaces: Bool)
        case add(String, MusicPaths)
        /// Indexes from 0, from the last to the first.
        case remove(String, [Range<Int>])
        case move(String, from: Int, to: Int)
        case rename(String, String)
        case delete(String)
    }

    private static let actions = ["list", "show", "play", "save", "add", "remove", "move", "rename", "delete"]
    private static let places = ListPlaces(list: "playlist", command: "playlist show")

    private let common: DaemonCommand
    private let action: Action

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options + [.init("--replace")])
        common = DaemonCommand(arguments)
        let verb = arguments.operands.first ?? "list"
        let operands = Array(arguments.operands.dropFirst())
        /// Checks the number of operands.
        func check(_ counts: ClosedRange<Int>, _ usage: String) throws(UsageError) {
            if operands.count < counts.lowerBound {
                throw UsageError("playlist \(verb) needs more: `tonearm playlist \(verb) \(usage)`.")
            }
            if operands.count > counts.upperBound {
                throw UsageError("playlist \(verb) takes no \(operands[counts.upperBound]).")
            }
        }
        if arguments.has("--replace"), verb != "save" { throw UsageError("--replace goes with playlist save.") }
        switch verb {
        case "list":
            try check(0...0, "")
            action = .list
        case "show", "play", "delete":
            try check(1...1, "NAME")
            action =
                switch verb {
                case "show": .show(operands[0])
                case "play": .play(operands[0])
                default: .delete(operands[0])
                }
        case "save":
            try check(1...1, "NAME")
            action = .save(operands[0], replaces: arguments.has("--replace"))
        case "add":
            try check(2...(.max), "NAME FOLDER")
            action = .add(operands[0], try MusicPaths(Array(operands.dropFirst())))
        case "remove":
            try check(2...(.max), "NAME 3 5-7")
            action = .remove(operands[0], try Self.places.ranges(Array(operands.dropFirst())))
        case "move":
            try check(3...3, "NAME 5 1")
            action = .move(
                operands[0], from: try Self.places.index(of: operands[1]), to: try Self.places.index(of: operands[2]))
        case "rename":
            try check(2...2, "NAME NEW")
            action = .rename(operands[0], operands[1])
        default:
            throw UsageError(
                "playlist \(verb): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: verb, among: Self.actions))
        }
    }

    func run() -> Int32 {
        if case .add(_, let paths) = action, let problem = paths.problem {
            common.console.complain(problem)
            return ExitCode.failed
        }
        return common.run { connection throws(DaemonFailure) in
            switch action {
            case .list: try pages("playlists", [], connection) { _, entry in Self.line(entry) }
            case .show(let name):
                try pages("playlist", [Self.name(name)], connection) { place, entry in
                    "\(place)  \(LibraryCommand.line(entry))"
                }
            case .play(let name): try play(name, connection)
            case .save(let name, let replaces):
                try ask(connection, "playlist-save", [Self.name(name), .init("replace", .boolean(replaces))])
            case .add(let name, let paths): try common.bring(paths, "playlist-add", [Self.name(name)], connection)
            case .remove(let name, let ranges): try remove(ranges, of: name, connection)
            case .move(let name, let from, let to):
                try ask(
                    connection, "playlist-move",
                    [Self.name(name), .init("from", JSONValue(from)), .init("index", JSONValue(to))])
            case .rename(let name, let newName):
                try ask(connection, "playlist-rename", [Self.name(name), .init("to", .string(newName))])
            case .delete(let name): try ask(connection, "playlist-delete", [Self.name(name)])
            }
        }
    }

    private static func name(_ name: String) -> DaemonCommand.Member { .init("name", .string(name)) }

    private func ask(
        _ connection: DaemonConnection, _ request: String, _ fields: [DaemonCommand.Member]
    ) throws(DaemonFailure) {
        common.show(try connection.ask(request, fields, patience: nil)) { _ in nil }
    }

    private func play(_ name: String, _ connection: DaemonConnection) throws(DaemonFailure) {
        let playlist = try connection.ask("playlist", [Self.name(name), .init("count", 0)], patience: nil)
        guard let path = playlist.value["path"]?.string else { throw .misunderstood }
        let paths: MusicPaths
        do throws(UsageError) { paths = try MusicPaths([path]) } catch { throw .misunderstood }
        try common.bring(paths, "queue-set", [.init("play", true)], connection)
    }

    /// Removes all ranges, or none when an entry does not exist.
    private func remove(
        _ ranges: [Range<Int>], of name: String, _ connection: DaemonConnection
    ) throws(DaemonFailure) {
        let playlist = try connection.ask("playlist", [Self.name(name), .init("count", 0)], patience: nil)
        guard let count = playlist.value["count"]?.integer else { throw .misunderstood }
        if let last = ranges.first?.upperBound, Int64(last) > count {
            throw .refused(code: "no-such-entry", message: "no entry at place \(last): there are \(count).")
        }
        for range in ranges {
            try ask(
                connection, "playlist-remove",
                [Self.name(name), .init("from", JSONValue(range.lowerBound)), .init("count", JSONValue(range.count))])
        }
    }

    /// Prints all entries of a list, a page at a time.
    private func pages(
        _ request: String, _ fields: [DaemonCommand.Member], _ connection: DaemonConnection,
        _ line: (_ place: Int, JSONValue) -> String
    ) throws(DaemonFailure) {
        var from = 0
        while true {
            let reply = try connection.ask(
                request, fields + [.init("from", JSONValue(from)), .init("count", 500)], patience: nil)
            guard let entries = reply.value["entries"]?.elements, let count = reply.value["count"]?.integer
            else { throw .misunderstood }
            if common.json { common.console.print(reply.line) }
            for entry in entries {
                from += 1
                if !common.json, !common.console.print(line(from, entry)) { return }
            }
            if entries.isEmpty || Int64(from) >= count { return }
        }
    }

    /// `2026-11-26  Evening`
    private static func line(_ playlist: JSONValue) -> String {
        let date = CalendarTime.date(playlist["modified"]?.integer ?? 0)
        return "\(date)  \(DisplayText.visible(playlist["name"]?.string ?? ""))"
    }
}
