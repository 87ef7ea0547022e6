import Platform
import Player

/// `tonearm queue`, and `tonearm play --daemon`.
struct QueueCommand {
    private enum Action {
        case list
        case set(MusicPaths, plays: Bool)
        case add(MusicPaths)
        /// - Parameter index: nil to insert after the current entry.
        case insert(MusicPaths, at: Int?)
        /// Indexes from 0.
        case move(Int, to: Int)
        /// Indexes from 0, each at most once.
        case remove([Range<Int>])
        case clear
    }

    private enum Wish {
        /// The words of `--search`.
        case words(String)
        /// Paths and products, with albums or playlists among them.
        case lists([String])
    }

    private static let actions = ["list", "add", "insert", "set", "move", "remove", "clear"]

    private static let places = ListPlaces(list: "queue", command: "queue")

    private let common: DaemonCommand
    private let action: Action
    /// The products to ask the service for first, and the options of the service. The answer replaces the action's
    /// paths.
    private let wish: (Wish, access: Arguments)?

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(
            parsing: words,
            knowing: DaemonCommand.options + ServiceAccess.options + [
                .init("--at", value: "PLACE"), .init("--play"), .init("--search"),
            ])
        try ServiceAccess.check(arguments)
        common = DaemonCommand(arguments)
        let name = arguments.operands.first ?? "list"
        let operands = Array(arguments.operands.dropFirst())
        let isSearch = arguments.has("--search")
        let hasLists = !isSearch && operands.contains { CatalogueList($0) != nil }
        func paths() throws(UsageError) -> MusicPaths {
            if isSearch || hasLists { return try MusicPaths([]) }
            if operands.isEmpty {
                throw UsageError("queue \(name) needs files or folders: `tonearm queue \(name) FOLDER`.")
            }
            return try MusicPaths(operands)
        }
        if arguments.has("--at"), name != "insert" { throw UsageError("--at goes with queue insert.") }
        if arguments.has("--play"), name != "set" { throw UsageError("--play goes with queue set.") }
        if isSearch, !["add", "set", "insert"].contains(name) {
            throw UsageError("--search goes with queue add, set and insert.")
        }
        if isSearch {
            wish = (.words(try ServiceSearch.words(operands, "queue \(name) --search")), arguments)
        } else {
            wish = hasLists ? (.lists(operands), arguments) : nil
        }
        switch name {
        case "list", "clear":
            if let word = operands.first { throw UsageError("queue \(name) takes no \(word).") }
            action = name == "list" ? .list : .clear
        case "set": action = .set(try paths(), plays: arguments.has("--play"))
        case "add": action = .add(try paths())
        case "insert":
            let place = try arguments.value(of: "--at").map { text throws(UsageError) in
                try Self.places.index(of: text)
            }
            action = .insert(try paths(), at: place)
        case "move":
            guard operands.count == 2 else {
                throw UsageError("queue move needs two places: `tonearm queue move 5 1`.")
            }
            action = .move(try Self.places.index(of: operands[0]), to: try Self.places.index(of: operands[1]))
        case "remove":
            if operands.isEmpty { throw UsageError("queue remove needs places: `tonearm queue remove 3 5-7`.") }
            action = .remove(try Self.places.ranges(operands))
        default:
            throw UsageError(
                "queue \(name): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: name, among: Self.actions))
        }
    }

    /// `tonearm play --daemon`.
    /// - Parameter words: all words after `play`.
    init(playing words: [String]) throws(UsageError) {
        let known = DaemonCommand.options + [.init("--daemon")]
        if let option = PlayOptions.names.first(where: { name in
            words.contains { $0 == name || $0.utf8.starts(with: "\(name)=".utf8) }
        }),
            !known.contains(where: { $0.name == option })
        {
            throw UsageError("\(option) does not go with --daemon, which has its own configuration.")
        }
        let arguments = try Arguments(parsing: words, knowing: known)
        common = DaemonCommand(arguments)
        if arguments.operands.isEmpty {
            throw UsageError("nothing to play. Name files or folders: `tonearm play FOLDER`.")
        }
        action = .set(try MusicPaths(arguments.operands), plays: true)
        wish = nil
    }

    // MARK: Running

    func run() -> Int32 {
        if let problem = music?.problem {
            common.console.complain(problem)
            return ExitCode.failed
        }
        var action = action
        if let (wish, access) = wish {
            do throws(ServiceAccess.Problem) { action = try found(wish, access) } catch {
                for line in error.lines { common.console.complain(line) }
                return error.exitCode
            }
        }
        return common.run { connection throws(DaemonFailure) in
            switch action {
            case .list: try list(connection)
            case .set(let paths, let plays):
                try common.bring(paths, "queue-set", plays ? [.init("play", true)] : [], connection)
            case .add(let paths): try common.bring(paths, "queue-add", [], connection)
            case .insert(let paths, nil): try common.bring(paths, "queue-insert", [], connection)
            case .insert(let paths, let index?): try insert(paths, at: index, connection)
            case .move(let from, let to): try move(from, to, connection)
            case .remove(let ranges): try remove(ranges, connection)
            case .clear: try ask(connection, "queue-clear", [])
            }
        }
    }

    /// Returns the action with the products that the service found.
    private func found(_ wish: Wish, _ access: Arguments) throws(ServiceAccess.Problem) -> Action {
        let tracks =
            switch wish {
            case .words(let words): try ServiceSearch(.toCatalogue(access)).tracksToAdd(words)
            case .lists(let products): try ServiceAccess.expanded(products, access)
            }
        let paths: MusicPaths
        do throws(UsageError) { paths = try MusicPaths(tracks) } catch {
            throw ServiceAccess.Problem(lines: [error.message])
        }
        return switch action {
        case .set(_, let plays): .set(paths, plays: plays)
        case .add: .add(paths)
        case .insert(_, let index): .insert(paths, at: index)
        case .list, .move, .remove, .clear: action
        }
    }

    private var music: MusicPaths? {
        switch action {
        case .set(let paths, _), .add(let paths), .insert(let paths, _): paths
        case .list, .move, .remove, .clear: nil
        }
    }

    private func ask(
        _ connection: DaemonConnection, _ request: String, _ fields: [DaemonCommand.Member]
    ) throws(DaemonFailure) {
        common.show(try connection.ask(request, fields)) { _ in nil }
    }

    // MARK: Places

    private func insert(_ paths: MusicPaths, at index: Int, _ connection: DaemonConnection) throws(DaemonFailure) {
        let count = try count(connection)
        if index > count {
            let message =
                "no place \(index + 1) to insert at: there are \(count) entries, the last place is \(count + 1)."
            throw .refused(code: "no-such-entry", message: message)
        }
        try common.bring(paths, "queue-insert", [.init("index", JSONValue(index))], connection)
    }

    private func move(_ from: Int, _ to: Int, _ connection: DaemonConnection) throws(DaemonFailure) {
        try check(max(from, to), in: try count(connection))
        let page = try connection.ask("queue", [.init("from", JSONValue(from)), .init("count", 1)]).value
        guard let entry = page["entries"]?[0]?["entry"] else { throw .misunderstood }
        try ask(connection, "queue-move", [.init("entry", entry), .init("index", JSONValue(to))])
    }

    /// - Parameter ranges: the ranges from the last to the first, so that the other positions do not change.
    private func remove(_ ranges: [Range<Int>], _ connection: DaemonConnection) throws(DaemonFailure) {
        try check(ranges[0].upperBound - 1, in: try count(connection))
        for range in ranges {
            let fields = [
                DaemonCommand.Member("from", JSONValue(range.lowerBound)), .init("count", JSONValue(range.count)),
            ]
            try ask(connection, "queue-remove", fields)
        }
    }

    /// Returns the number of entries.
    private func count(_ connection: DaemonConnection) throws(DaemonFailure) -> Int {
        guard let count = try connection.ask("queue", [.init("count", 0)]).value["count"]?.integer
        else { throw .misunderstood }
        return Int(clamping: count)
    }

    /// Checks that an index exists. The daemon counts from 0 and limits some indexes to the valid range, but a position
    /// that the user names must exist.
    private func check(_ index: Int, in count: Int) throws(DaemonFailure) {
        if index < count { return }
        throw .refused(code: "no-such-entry", message: "no entry at place \(index + 1): there are \(count).")
    }

    // MARK: Listing

    private func list(_ connection: DaemonConnection) throws(DaemonFailure) {
        var from = 0
        while true {
            let reply = try connection.ask("queue", [.init("from", JSONValue(from))])
            guard let entries = reply.value["entries"]?.elements, let count = reply.value["count"]?.integer
            else { throw .misunderstood }
            if common.json { common.console.print(reply.line) }
            if count == 0, !common.json { common.console.print("The queue is empty.") }
            for entry in entries {
                from += 1
                if common.json { continue }
                let mark = entry["current"]?.boolean == true ? "*" : " "
                let number = "\(from)"
                let blanks = String(repeating: " ", count: max(0, "\(count)".utf8.count - number.utf8.count))
                let isRead = common.console.print(
                    "\(mark) \(blanks)\(number)  \(DisplayText.visible(entry["file"]?.string ?? ""))")
                if !isRead { return }
            }
            if entries.isEmpty || Int64(from) >= count { return }
        }
    }
}
