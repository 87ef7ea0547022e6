/// How a start uses the stored queue.
public enum ResumePolicy: Equatable, Sendable, CaseIterable {
    /// Resume the former state: play only if it was playing. After a power cut, paused music stays paused.
    case playing
    /// Wait for a button, at the stored position.
    case paused
    /// Forget the queue.
    case empty
}
