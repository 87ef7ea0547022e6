/// What a start does with what was kept.
public enum ResumePolicy: Equatable, Sendable, CaseIterable {
    /// Go on as it was: playing if it was playing. Somebody who had paused it is not woken by the light coming back.
    case playing
    /// Wait for a button at the position where it was.
    case paused
    /// Forget the queue.
    case empty
}

/// The decision of a start.
public enum ResumeDecision: Equatable, Sendable {
    /// Empty the queue, if there is one.
    case startEmpty
    /// The queue is there, and nothing is current: it was played to its end, or never begun.
    case wait
    /// Make the current entry ready at this position, in seconds.
    case resume(position: Double, playing: Bool)

    /// - Parameters:
    ///   - hasCurrent: whether the queue that was kept has a current entry.
    ///   - wasPlaying: whether it was meant to play when it was kept.
    public static func atStart(
        _ policy: ResumePolicy, hasCurrent: Bool, position: Double, wasPlaying: Bool
    ) -> ResumeDecision {
        switch policy {
        case .empty: .startEmpty
        case _ where !hasCurrent: .wait
        case .paused: .resume(position: position, playing: false)
        case .playing: .resume(position: position, playing: wasPlaying)
        }
    }
}
