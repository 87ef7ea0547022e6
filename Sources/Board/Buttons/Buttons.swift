import Platform

/// A board's buttons and encoders, watched on the event loop.
///
/// A missing chip, or a line that is in use or lost, is reported and retried for each input separately. The others do
/// not wait for it.
///
/// Thread: the loop's, which holds this object from `start` to `stop`.
public final class Buttons {
    private let watches: [LineWatch]

    /// - Parameter clock: the loop's clock.
    /// - Parameter deliver: called on the loop's thread with every event; the receiver carries out `.action`.
    public init(
        _ profile: BoardProfile, lines: any LineProvider, loop: EventLoop, clock: any MonotonicClock,
        deliver: @escaping (BoardEvent) -> Void
    ) {
        var inputs: [any BoardInput] = []
        for button in profile.buttons { inputs.append(ButtonInput(button)) }
        for encoder in profile.encoders { inputs.append(EncoderInput(encoder)) }
        watches = inputs.map {
            LineWatch($0, provider: lines, loop: loop, clock: clock, deliver: deliver)
        }
    }

    /// Requests the lines. Call it once.
    public func start() { for watch in watches { watch.start() } }

    /// Releases the lines; no more events are delivered.
    public func stop() { for watch in watches { watch.stop() } }
}
