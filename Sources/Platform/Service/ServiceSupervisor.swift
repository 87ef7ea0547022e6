import CLinux

/// The service manager that started this process and watches it: systemd, or another one with its protocol
/// (sd_notify(3)). Messages are sent without waiting for an answer.
///
/// Thread: any.
public struct ServiceSupervisor: Sendable {
    /// The messages to the service manager.
    public enum Message: Equatable, Sendable {
        /// The start, or a reload, is complete.
        case ready
        /// The configuration is being reloaded; `ready` follows. The time is in nanoseconds of the monotonic clock.
        case reloading(at: Int64)
        case stopping
        /// The service is healthy.
        case alive
        /// A line for `systemctl status`. Control characters become blanks: each line is a message, and a line break in
        /// the title of a track must not start another one.
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

    /// How long the manager waits for `alive` before it restarts the service, in nanoseconds; nil without a limit.
    public let watchdogInterval: Int64?
    private let address: String

    /// - Parameters:
    ///   - variable: returns the value of an environment variable.
    ///   - process: this process's number.
    /// - Returns: nil when no service manager watches this process.
    public init?(environment variable: (String) -> String?, process: Int32 = getpid()) {
        guard let address = variable("NOTIFY_SOCKET"), !address.utf8.isEmpty else { return nil }
        self.address = address
        let isMeant = variable("WATCHDOG_PID").map { Int32($0) == process } ?? true
        let interval = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogInterval = isMeant && interval > 0 && interval < .max / 1000 ? interval * 1000 : nil
    }

    /// The service manager of this process; nil when none watches it.
    public static var ofThisProcess: ServiceSupervisor? {
        ServiceSupervisor(environment: { name in getenv(name).map { String(cString: $0) } })
    }

    public func notify(_ message: Message) {
        let text = message.text
        if tonearm_notify(address, text, text.utf8.count) != 0 {
            Log.debug("the service manager cannot be reached: \(SystemError.last("sendto", address))")
        }
    }
}
