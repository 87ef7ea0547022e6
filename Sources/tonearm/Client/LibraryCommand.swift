import CLinux
import Platform

/// `tonearm library`.
struct LibraryCommand {
    private enum Action {
        case status
        case scan
        case search(String)
        case list(String, of: String?)
        /// - Parameter path: nil for the current entry.
        case favourite(Bool, path: MusicPaths?)
    }

    private static let actions = ["status", "scan", "search", "list", "favourite", "unfavourite"]
    private static let lists = [
        "artists", "albums", "tracks", "genres", "folders", "recent", "played", "history", "favourites",
    ]
    /// The milliseconds between two checks of a running scan.
    private static let interval: Int32 = 200

    private let common: DaemonCommand
    private let action: Action

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(parsing: words, knowing: DaemonCommand.options)
        common = DaemonCommand(arguments)
        let name = arguments.operands.first ?? "status"
        let operands = Array(arguments.operands.dropFirst())
        func refuse(after count: Int) throws(UsageError) {
            if operands.count > count { throw UsageError("library \(name) takes no \(operands[count]).") }
        }
        switch name {
        case "status", "scan":
            try refuse(after: 0)
            action = name == "scan" ? .scan : .status
        case "search":
            if operands.isEmpty { throw UsageError("library search needs words: `tonearm library search WORDS`.") }
            action = .search(operands.joined(separator: " "))
        case "list":
            try refuse(after: 2)
            let list = operands.first ?? ""
            guard Self.lists.contains(list) else {
                throw UsageError(
                    "library list \(list): must be one of \(Self.lists.joined(separator: ", "))."
                        + Suggestion.text(for: list, among: Self.lists))
            }
            let of = operands.count > 1 ? operands[1] : nil
            if of != nil, !["albums", "tracks", "folders"].contains(list) {
                throw UsageError("library list \(list) takes no \(of ?? "").")
            }
            action = .list(list, of: of)
        case "favourite", "unfavourite":
            try refuse(after: 1)
            action = .favourite(
                name == "favourite", path: operands.isEmpty ? nil : try MusicPaths([operands[0]]))
        default:
            throw UsageError(
                "library \(name): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: name, among: Self.actions))
        }
    }

    func run() -> Int32 {
        common.run { connection throws(DaemonFailure) in
            switch action {
            case .status: common.show(try connection.ask("library-status")) { Self.status($0) }
            case .scan: try scan(connection)
            case .search(let words): try search(words, connection)
            case .list(let list, let of):
                var fields = [DaemonCommand.Member("list", .string(list))]
                if let of { fields.append(.init("of", .string(of))) }
                try pages("library-list", fields, connection)
            case .favourite(let isOn, let path):
                var fields = [DaemonCommand.Member("on", .boolean(isOn))]
                if let path = path?.absolute.first { fields.append(.init("path", .string(path))) }
                common.show(try connection.ask("favourite", fields)) { _ in nil }
            }
        }
    }

    // MARK: Scan

    /// Scans, with a bar on a terminal, until the scan has ended.
    private func scan(_ connection: DaemonConnection) throws(DaemonFailure) {
        var status = try connection.ask("library-scan")
        guard let before = status.value["scans"]?.integer else { throw .misunderstood }
        let isLive = common.console.isTerminal && !common.json
        // A scan that runs already is not the requested one, which follows it.
        let last = before + (status.value["scanning"]?.boolean == true ? 2 : 1)
        while (status.value["scans"]?.integer ?? 0) < last, status.value["waitsFor"]?.string == nil {
            if isLive { common.console.draw(bar(status.value)) }
            var waited = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&waited, 1, Self.interval)
            status = try connection.ask("library-status")
        }
        common.console.endLine()
        common.show(status) { Self.status($0) }
        if !common.json, status.value["waitsFor"]?.string != nil { common.console.complain("note: \(Self.waitText)") }
    }

    private func bar(_ status: JSONValue) -> String {
        let done = status["done"]?.integer ?? 0
        let all = max(status["found"]?.integer ?? 0, status["tracks"]?.integer ?? 0, 1)
        let percent = Int(clamping: min(done * 100 / all, 100))
        return ProgressBar.line("\(done) files", percent: percent, columns: common.console.columns)
    }

    private static let waitText = "the machine runs on battery, and the scan goes on with mains power"

    private static func status(_ reply: JSONValue) -> String {
        func number(_ name: String) -> Int64 { reply[name]?.integer ?? 0 }
        let folders = reply["folders"]?.elements?.compactMap { $0.string } ?? []
        var text = """
            folders:   \(folders.joined(separator: ", "))
            tracks:    \(number("tracks"))
            albums:    \(number("albums"))
            artists:   \(number("artists"))
            playlists: \(number("playlists"))
            index:     \(number("bytes") / 1000) kB
            """
        if reply["scanning"]?.boolean == true { text += "\nscanning:  \(number("done")) of \(number("found")) files" }
        if reply["waitsFor"]?.string != nil { text += "\nwaits:     \(waitText)" }
        return text
    }

    // MARK: Lists

    private func search(_ words: String, _ connection: DaemonConnection) throws(DaemonFailure) {
        let reply = try connection.ask("library-search", [.init("words", .string(words))])
        if common.json {
            common.console.print(reply.line)
            return
        }
        for (list, title) in [("artists", "Artists"), ("albums", "Albums"), ("entries", "Tracks")] {
            let entries = reply.value[list]?.elements ?? []
            if entries.isEmpty { continue }
            common.console.print("\(title):")
            for entry in entries { common.console.print("  \(Self.line(entry))") }
        }
        let (count, shown) = (reply.value["count"]?.integer ?? 0, reply.value["entries"]?.elements?.count ?? 0)
        if count > Int64(shown) { common.console.print("  … \(count) tracks in all") }
    }

    /// Prints all entries of a list, a page at a time.
    private func pages(
        _ request: String, _ fields: [DaemonCommand.Member], _ connection: DaemonConnection
    ) throws(DaemonFailure) {
        var from = 0
        while true {
            let reply = try connection.ask(
                request, fields + [.init("from", JSONValue(from)), .init("count", 500)])
            guard let entries = reply.value["entries"]?.elements, let count = reply.value["count"]?.integer
            else { throw .misunderstood }
            if common.json {
                common.console.print(reply.line)
            } else {
                for entry in entries where !common.console.print(Self.line(entry)) { return }
            }
            from += entries.count
            if entries.isEmpty || Int64(from) >= count { return }
        }
    }

    /// `/music/a.flac  Artist - Title`, `12  Artist - Album (2004), 10 tracks`, `3  Artist`
    static func line(_ entry: JSONValue) -> String {
        let names = [entry["artist"]?.string, entry["title"]?.string ?? entry["name"]?.string].compactMap { $0 }
        var text = names.joined(separator: " - ")
        if let tracks = entry["tracks"]?.integer {
            if let date = entry["date"]?.string { text += " (\(date))" }
            text += ", \(tracks) \(tracks == 1 ? "track" : "tracks")"
        }
        if let plays = entry["plays"]?.integer { text += ", \(plays) \(plays == 1 ? "play" : "plays")" }
        if let time = entry["heard"]?.integer { text += "\(text.isEmpty ? "" : ", ")heard \(CalendarTime.date(time))" }
        if entry["favourite"]?.boolean == true { text += text.isEmpty ? "favourite" : ", favourite" }
        let key = entry["path"]?.string ?? entry["id"]?.integer.map { "\($0)" } ?? ""
        return DisplayText.visible(text.isEmpty ? key : "\(key)  \(text)")
    }
}
