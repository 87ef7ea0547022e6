import Library

/// Whether the system has reported a state since a request was written. Until then its state is that of something
/// before, and a client could take an old failure for that of its own request.
struct AwaitedReport {
    /// Whether the state is one from before the request.
    private(set) var isAwaited = false
    /// The version of the system's state at the time of the request.
    private var state: FileStamp?

    /// A request was written while this was the state.
    mutating func begin(_ state: FileStamp?) { (isAwaited, self.state) = (true, state) }

    /// Another request has taken its place.
    mutating func end() { isAwaited = false }

    /// - Parameters:
    ///   - isWanted: whether the request waits still; read before the state.
    ///   - state: the present version of the state.
    mutating func see(isWanted: Bool, _ state: FileStamp?) {
        // The state may have changed after the request was written, by something that was begun before it.
        if isWanted { self.state = state } else if self.state != state { isAwaited = false }
    }
}
