/// The decision of a start.
public enum ResumeDecision: Equatable, Sendable {
    /// Empty the queue, if there is one.
    case startEmpty
    /// There is a queue without a current entry: it was played to its end, or never started.
    case wait
    /// Make the current entry ready at this position, in seconds.
    case resume(position: Double, playing: Bool)

    /// - Parameters:
    ///   - hasCurrent: whether the stored queue has a current entry.
    ///   - wasPlaying: whether it was playing when it was stored.
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
