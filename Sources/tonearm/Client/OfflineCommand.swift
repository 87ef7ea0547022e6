import Platform
import Player

/// `tonearm offline`: the offline copies and downloads of the content service.
struct OfflineCommand {
    private enum Action {
        case list
        case status
        case add([String], priority: Int)
        /// Removes products; nil: all.
        case remove([String]?)
        case cancel([String]?)
        case pause([String]?)
        case resume([String]?)
        /// Checks offline copies; nil: all.
        case verify([String]?)
    }

    private static let actions = ["list", "status", "add", "remove", "cancel", "pause", "resume", "verify"]

    private let common: DaemonCommand
    private let action: Action
    private let watches: Bool
    private let access: Arguments

    init(_ words: [String]) throws(UsageError) {
        let arguments = try Arguments(
            parsing: words,
            knowing: DaemonCommand.options + ServiceAccess.options + [
                .init("--all"), .init("--watch"), .init("--priority", value: "N"),
            ])
        try ServiceAccess.check(arguments)
        access = arguments
        common = DaemonCommand(arguments)
        watches = arguments.has("--watch")
        let name = arguments.operands.first ?? "list"
        let products = Array(arguments.operands.dropFirst())
        if watches, name != "status" { throw UsageError("--watch goes with offline status.") }
        if arguments.has("--priority"), name != "add" { throw UsageError("--priority goes with offline add.") }
        if arguments.has("--all"), !["remove", "cancel", "pause", "resume"].contains(name) {
            throw UsageError("--all goes with offline remove, cancel, pause and resume.")
        }
        func productsOrAll() throws(UsageError) -> [String]? {
            guard arguments.has("--all") else { return try Self.checked(products, name) }
            if let product = products.first { throw UsageError("offline \(name): \(product) does not go with --all.") }
            return nil
        }
        switch name {
        case "list", "status":
            if let word = products.first { throw UsageError("offline \(name) takes no \(word).") }
            action = name == "list" ? .list : .status
        case "add":
            action = .add(try Self.checked(products, name), priority: try Self.priority(arguments))
        case "remove": action = .remove(try productsOrAll())
        case "cancel": action = .cancel(try productsOrAll())
        case "pause": action = .pause(try productsOrAll())
        case "resume": action = .resume(try productsOrAll())
        case "verify": action = .verify(products.isEmpty ? nil : try Self.checked(products, name))
        default:
            throw UsageError(
                "offline \(name): must be one of \(Self.actions.joined(separator: ", "))."
                    + Suggestion.text(for: name, among: Self.actions))
        }
    }

    private static func priority(_ arguments: Arguments) throws(UsageError) -> Int {
        guard let text = arguments.value(of: "--priority") else { return 0 }
        guard let number = Int(text), OfflineEngine.priorities.contains(number) else {
            throw UsageError("--priority \(text): must be a whole number from -1000 to 1000.")
        }
        return number
    }

    private static func checked(_ products: [String], _ name: String) throws(UsageError) -> [String] {
        if products.isEmpty {
            throw UsageError(
                "offline \(name) needs products: `tonearm offline \(name) tonearm:track/ID`. "
                    + "`tonearm search` finds them.")
        }
        for product in products where ServiceAddress(product) == nil && CatalogueList(product) == nil {
            throw UsageError(
                "\(product): must be tonearm:track/ID, tonearm:video/ID, tonearm:album/ID or tonearm:playlist/ID.")
        }
        return products
    }

    // MARK: Running

    /// - Returns: the exit code.
    func run() -> Int32 {
        let action: Action
        do throws(ServiceAccess.Problem) { action = try resolved() } catch {
            for line in error.lines { common.console.complain(line) }
            return error.exitCode
        }
        if case .status = action, watches { return OfflineWatch.run(common) }
        return common.run { connection throws(DaemonFailure) in
            switch action {
            case .list: try list(connection)
            case .status: try status(connection)
            case .add(let products, let priority):
                try change(
                    "offline-add", products, connection, [.init("priority", JSONValue(priority))],
                    "to download", "there or on their way already")
            case .remove(let products):
                try change("offline-remove", products, connection, [], "removed", "without an offline copy")
            case .cancel(let products):
                try change("offline-cancel", products, connection, [], "cancelled", "not on their way")
            case .pause(let products):
                try change("offline-pause", products, connection, [], "paused", "not on their way")
            case .resume(let products):
                try change("offline-resume", products, connection, [], "resumed", "neither paused nor failed")
            case .verify(let products): try verify(products, connection)
            }
        }
    }

    /// Returns the action with the tracks of albums and playlists in their place.
    private func resolved() throws(ServiceAccess.Problem) -> Action {
        func tracks(_ products: [String]?) throws(ServiceAccess.Problem) -> [String]? {
            guard let products else { return nil }
            return try ServiceAccess.expanded(products, access)
        }
        return switch action {
        case .list, .status: action
        case .add(let products, let priority): .add(try tracks(products) ?? [], priority: priority)
        case .remove(let products): .remove(try tracks(products))
        case .cancel(let products): .cancel(try tracks(products))
        case .pause(let products): .pause(try tracks(products))
        case .resume(let products): .resume(try tracks(products))
        case .verify(let products): .verify(try tracks(products))
        }
    }

    /// - Parameter products: nil: all.
    private func change(
        _ request: String, _ products: [String]?, _ connection: DaemonConnection, _ fields: [DaemonCommand.Member],
        _ done: String, _ same: String
    ) throws(DaemonFailure) {
        guard let products else {
            let reply = try connection.ask(request, [.init("all", true)], patience: nil)
            return common.show(reply) { $0["changed"]?.integer == 0 ? "There was nothing to do." : "All \(done)." }
        }
        var (changed, unchanged): (Int64, Int64) = (0, 0)
        for batch in stride(from: 0, to: products.count, by: Self.batch) {
            let part = products[batch..<min(batch + Self.batch, products.count)]
            let reply = try connection.ask(request, [DaemonCommand.products(part)] + fields, patience: nil)
            changed += reply.value["changed"]?.integer ?? 0
            unchanged += reply.value["unchanged"]?.integer ?? 0
            if common.json { common.console.print(reply.line) }
        }
        if common.json { return }
        if changed > 0 { common.console.print("\(changed) \(done).") }
        if unchanged > 0 { common.console.print("\(unchanged) \(same).") }
    }

    /// The number of products in one request.
    private static let batch = 200

    // MARK: Listing

    private func list(_ connection: DaemonConnection) throws(DaemonFailure) {
        var isEmpty = true
        for request in ["offline-jobs", "offline-items"] {
            try OfflinePages.each(request, connection) { (reply, entries) throws(DaemonFailure) in
                if common.json { common.console.print(reply.line) }
                for entry in entries {
                    isEmpty = false
                    if !common.json { common.console.print(OfflineText.line(entry)) }
                }
            }
        }
        if isEmpty, !common.json {
            common.console.print("There are no offline copies. Add some: `tonearm offline add`.")
        }
    }

    private func status(_ connection: DaemonConnection) throws(DaemonFailure) {
        var status = try connection.ask("offline-status").value
        var running: [JSONValue] = []
        try OfflinePages.each("offline-jobs", connection) { (_, entries) throws(DaemonFailure) in
            for entry in entries where OfflineText.progress(entry, columns: 0) != nil { running.append(entry) }
        }
        if common.json {
            status["running"] = .array(running)
            common.console.print(status.serialized())
            return
        }
        common.console.print(OfflineText.total(status))
        for entry in running {
            if let line = OfflineText.progress(entry, columns: common.console.columns) { common.console.print(line) }
        }
    }

    private func verify(_ products: [String]?, _ connection: DaemonConnection) throws(DaemonFailure) {
        var all = products ?? []
        if products == nil {
            try OfflinePages.each("offline-items", connection) { (_, entries) throws(DaemonFailure) in
                all += entries.compactMap { $0["product"]?.string }
            }
        }
        var (damaged, unreadable) = (0, 0)
        for (index, product) in all.enumerated() {
            if common.console.isTerminal, !common.json { common.console.draw("verifying \(index + 1) of \(all.count)") }
            let reply = try connection.ask("offline-verify", [.init("product", .string(product))], patience: nil)
            if common.json { common.console.print(reply.line) }
            if reply.value["whole"]?.boolean == true { continue }
            if let reason = reply.value["reason"]?.string {
                unreadable += 1
                common.console.complain("\(product): it cannot be read now, and stays as it is: \(reason)")
                continue
            }
            damaged += 1
            common.console.complain("\(product): a part of it is damaged; it is downloaded again")
        }
        common.console.forgetLine()
        if damaged > 0 {
            throw .refused(code: "damaged", message: "\(damaged) of \(all.count) products are damaged.")
        }
        if unreadable > 0 {
            throw .refused(code: "system", message: "\(unreadable) of \(all.count) products cannot be read now.")
        }
        if !common.json {
            common.console.print(all.isEmpty ? "There are no offline copies." : "\(all.count) products are whole.")
        }
    }
}

/// The pages of a list.
enum OfflinePages {
    static func each(
        _ request: String, _ connection: DaemonConnection,
        _ take: (DaemonConnection.Reply, [JSONValue]) throws(DaemonFailure) -> Void
    ) throws(DaemonFailure) {
        var after: JSONValue?
        while true {
            let reply = try connection.ask(request, after.map { [.init("after", $0)] } ?? [])
            guard let entries = reply.value["entries"]?.elements else { throw .misunderstood }
            try take(reply, entries)
            guard let next = reply.value["next"], !next.isNull else { return }
            after = next
        }
    }
}
