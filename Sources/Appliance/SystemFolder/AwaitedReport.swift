import Library

/// Whether the system has reported a state since a request was written. Until then its state is older than the request,
/// and a client could mistake an old failure for the failure of its request.
struct AwaitedReport {
    /// Whether the state is still older than the request.
    private(set) var isAwaited = false
    /// The version of the system's state at the time of the request.
    private var state: FileStamp?

    /// Notes that a request was written while the state had this version.
    mutating func begin(_ state: FileStamp?) { (isAwaited, self.state) = (true, state) }

    /// Notes that another request has replaced the awaited one.
    mutating func end() { isAwaited = false }

    /// - Parameters:
    ///   - isWanted: whether the request still waits; read it before the state.
    ///   - state: the current version of the state.
    mutating func see(isWanted: Bool, _ state: FileStamp?) {
        // The state may have changed after the request was written, because of work that began before it.
        if isWanted { self.state = state } else if self.state != state { isAwaited = false }
    }
}
