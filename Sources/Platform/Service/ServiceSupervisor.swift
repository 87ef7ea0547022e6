import CLinux

/// Whoever started this process as a service and wants to know how it does: systemd, or what speaks its protocol
/// (sd_notify(3)). Messages are sent and forgotten; nobody waits for them.
///
/// Thread: any.
public struct ServiceSupervisor: Sendable {
    /// What it is told.
    public enum Message: Equatable, Sendable {
        /// The start, or a reload, is complete.
        case ready
        /// The configuration is read again; `ready` follows. The time is that of the monotonic clock, in nanoseconds.
        case reloading(at: Int64)
        case stopping
        /// All is well, once more.
        case alive
        /// A line for `systemctl status`. What is not printable in it becomes a blank: each line is a message, and one
        /// in the title of a track must not be taken for ours.
        case status(String)

        var text: String {
            switch self {
            case .ready: "READY=1"
            case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time / 1000)"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let line):
                "STATUS="
                    + String(decoding: line.utf8.map { Self.isControl($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
            }
        }

        private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }
    }

    /// How long it waits for `alive` before it starts the service anew, in nanoseconds; nil when it does not wait.
    public let watchdogInterval: Int64?
    private let address: String

    /// - Parameters:
    ///   - variable: looks a variable of the environment up.
    ///   - process: this process's number.
    /// - Returns: nil where nobody wants to know.
    public init?(environment variable: (String) -> String?, process: Int32 = getpid()) {
        guard let address = variable("NOTIFY_SOCKET"), !address.utf8.isEmpty else { return nil }
        self.address = address
        let isMeant = variable("WATCHDOG_PID").map { Int32($0) == process } ?? true
        let interval = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && interval > 0 && interval < .max / 1000 ? interval * 1000 : nil
    }

    /// That of this process.
    public static var ofThisProcess: ServiceSupervisor? {
        ServiceSupervisor(environment: { name in getenv(name).map { String(cString: $0) } })
    }

    public func tell(_ message: Message) {
        let text = message.text
        if tonearm_notify(address, text, text.utf8.count) != 0 {
            Log.debug("the service supervisor cannot be told: \(SystemError.last("sendto", address))")
        }
    }
}
