import Platform

/// The lines of a board that keep one level: the reset of a DAC, the enable of an amplifier without a mute.
///
/// Thread: the event loop's, which may hold this object from `start` to `stop`.
public final class HeldLines {
    private let outputs: [SteadyOutput]

    /// - Parameter deliver: called on the loop's thread with `.ready` and `.unavailable`.
    public init(
        _ profile: BoardProfile, lines: any LineProvider, loop: EventLoop, deliver: @escaping (BoardEvent) -> Void
    ) {
        outputs = profile.heldLines.map {
            SteadyOutput(
                $0.subject, line: $0.line, active: $0.level, initially: true, provider: lines, loop: loop,
                deliver: deliver)
        }
    }

    /// Requests the lines. Call it once.
    public func start() { for output in outputs { output.start() } }

    /// Releases the lines, which keep their levels until something else uses them.
    public func stop() { for output in outputs { output.stop() } }
}
