import Platform

/// A requested check of an offline copy.
public final class OfflineCheck: Sendable {
    private let loop: EventLoop
    private let integrity: OfflineIntegrity

    init(loop: EventLoop, _ integrity: OfflineIntegrity) {
        self.loop = loop
        self.integrity = integrity
    }

    /// Ends the check soon; its answer is `.stopped`. Any thread.
    public func cancel() { loop.post { [self] in integrity.cancel(self) } }
}
