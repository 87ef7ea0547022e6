import CLinux
import Platform

/// `tonearm offline status --watch`: bars of the running downloads, until none is left; JSON lines otherwise.
///
/// Thread: the main thread.
enum OfflineWatch {
    /// The milliseconds without an event after which the daemon is asked: a pause by another client causes no event.
    private static let patience: Int32 = 5000

    /// - Returns: the exit code.
    static func run(_ common: DaemonCommand) -> Int32 {
        common.run { connection throws(DaemonFailure) in
            try connection.ask("subscribe", [.init("events", ["offline"])])
            let isLive = common.console.isTerminal && !common.json
            var printed = ""
            while true {
                let reply = try connection.ask("offline-status")
                if common.json, !reply.line.utf8.elementsEqual(printed.utf8) {
                    printed = reply.line
                    common.console.print(printed)
                }
                let downloads = reply.value["downloads"]?.integer ?? 0
                guard downloads > 0 else {
                    common.console.endLine()
                    if !common.json { common.console.print(OfflineText.total(reply.value)) }
                    return
                }
                try follow(connection, common, isLive, downloads)
            }
        }
    }

    /// The kinds of events with which a download ends.
    private static let ends = ["done", "failed", "deleted", "all-deleted", "cancelled", "all-cancelled"]

    /// Shows events until a download ends, or no event arrives for some time.
    private static func follow(
        _ connection: DaemonConnection, _ common: DaemonCommand, _ isLive: Bool, _ downloads: Int64
    ) throws(DaemonFailure) {
        while true {
            while let line = connection.takeLine() {
                let event = try DaemonConnection.parse(line)
                if common.json { common.console.print(line) }
                guard let change = event["change"]?.string else { continue }
                if isLive, change.utf8.elementsEqual("progress".utf8) {
                    let rest = downloads > 1 ? "  and \(downloads - 1) more" : ""
                    common.console.draw(
                        OfflineText.bar(event, columns: common.console.columns - rest.utf8.count) + rest)
                }
                if change.utf8.elementsEqual("failed".utf8), !common.json {
                    common.console.complain(event["message"]?.string ?? "")
                }
                if ends.contains(where: { $0.utf8.elementsEqual(change.utf8) }) { return }
            }
            var waited = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&waited, 1, patience) == 0 { return }
            try connection.receive()
        }
    }
}
