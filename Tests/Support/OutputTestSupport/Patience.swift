import Foundation
import Synchronization
import TestSupport
import Testing

/// How long a fixture waits for an event. When the event does not come, the one test fails with the name of the event.
/// Then everything that the test still waits for fails at once.
///
/// Any thread.
public final class Patience: Sendable {
    private let hasEnded = Atomic(false)

    public init() {}

    /// The end of the wait.
    public var limit: Date {
        hasEnded.load(ordering: .relaxed) ? Date() : Deadline().date
    }

    /// Records that the event did not happen. To be called on the test's thread.
    /// - Parameter state: the state instead.
    public func end(_ what: String, _ sourceLocation: SourceLocation, state: String = "") {
        hasEnded.store(true, ordering: .relaxed)
        Issue.record("waited in vain for \(what)\(state.isEmpty ? "" : ": \(state)")", sourceLocation: sourceLocation)
    }
}
