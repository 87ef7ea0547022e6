import Platform

/// A board's lights. Thread: the event loop's, which may hold this object from `start` to `stop`.
public final class Lights {
    private let outputs: [SteadyOutput]
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private var policy: LightPolicy
    private var timer: TimerToken?
    private var isCarryingOut = false

    /// Makes all lights dark at first.
    /// - Parameter clock: the loop's clock.
    /// - Parameter deliver: called on the loop's thread with `.ready` and `.unavailable`.
    public init(
        _ profile: BoardProfile, lines: any LineProvider, loop: EventLoop, clock: any MonotonicClock,
        deliver: @escaping (BoardEvent) -> Void
    ) {
        self.loop = loop
        self.clock = clock
        policy = LightPolicy(profile.lights)
        outputs = profile.lights.map {
            SteadyOutput(
                $0.subject, line: $0.line, active: $0.active, initially: false, provider: lines, loop: loop,
                deliver: deliver)
        }
    }

    /// Requests the lines. Call it once.
    public func start() { for output in outputs { output.start() } }

    /// Releases the lines, dark.
    public func stop() {
        show([])
        for output in outputs { output.stop() }
    }

    /// Replaces the current conditions.
    public func show(_ conditions: Set<LightCondition>) {
        policy.show(conditions, at: clock.now())
        carryOut()
    }

    private func carryOut() {
        // A failing output is reported at once, and the report may call this again with other conditions. The running
        // call then applies those too, on all outputs.
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var shown: [Bool]
        repeat {
            shown = policy.isLit
            for (output, isLit) in zip(outputs, shown) { output.set(isLit) }
        } while policy.isLit != shown
        isCarryingOut = false
        if let timer { loop.cancel(timer) }
        timer = nil
        guard let deadline = policy.deadline else { return }
        timer = loop.schedule(after: deadline - clock.now()) {
            self.timer = nil
            self.policy.advance(to: self.clock.now())
            self.carryOut()
        }
    }
}
