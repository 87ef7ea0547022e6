import Foundation
import Synchronization
import TestSupport
import Testing

/// How long a fixture waits for what has to happen. When it does not happen, the one test fails with what was awaited,
/// and everything that the test still waits for fails at once.
///
/// Any thread.
public final class Patience: Sendable {
    private let hasEnded = Atomic(false)

    public init() {}

    /// Until when to wait.
    public var limit: Date {
        hasEnded.load(ordering: .relaxed) ? Date() : Deadline().date
    }

    /// It did not happen. To be called on the test's thread.
    /// - Parameter state: what is the case instead.
    public func end(_ what: String, _ sourceLocation: SourceLocation, state: String = "") {
        hasEnded.store(true, ordering: .relaxed)
        Issue.record("waited in vain for \(what)\(state.isEmpty ? "" : ": \(state)")", sourceLocation: sourceLocation)
    }
}
