import CLinux

/// Why a thread runs without the requested real-time priority.
public struct RealtimeRefusal: Equatable, Sendable, CustomStringConvertible {
    /// The thread's name.
    public var thread: String
    /// The requested priority.
    public var priority: Int
    /// RLIMIT_RTPRIO: the highest priority that the process may request; 0 for none.
    public var limit: Int
    /// errno of sched_setscheduler(2).
    public var code: Int32

    public init(thread: String, priority: Int, limit: Int, code: Int32) {
        self.thread = thread
        self.priority = priority
        self.limit = limit
        self.code = code
    }

    /// One line, including the remedy.
    public var description: String {
        let what = "thread \(thread) runs without real-time priority \(priority)"
        let reason = SystemError(code: code, operation: "sched_setscheduler").reason
        switch code {
        case EPERM where limit < priority:
            return "\(what): the limit is \(limit). Raise it with LimitRTPRIO=\(priority) in the systemd unit, or with "
                + "'@audio - rtprio \(priority)' in /etc/security/limits.d and membership of group audio"
        case EPERM:
            return "\(what): \(reason), although the limit is \(limit). A container needs CAP_SYS_NICE, a control "
                + "group with the cpu controller needs a real-time budget (cpu.rt_runtime_us)"
        default:
            return "\(what): \(reason)"
        }
    }
}
