import Platform

/// An output line that is requested again when it is lost, with the current value.
///
/// Thread: the loop's. The loop may hold it until `stop`.
final class SteadyOutput {
    private let subject: String
    private let line: LineReference
    private let active: ActiveLevel
    private let provider: any LineProvider
    private let loop: EventLoop
    private let deliver: (BoardEvent) -> Void

    private var wanted: Bool
    /// The line; nil while it cannot be used.
    private var output: (any LineOutput)?
    private var failures = LineFailures()
    private var timer: TimerToken?

    init(
        _ subject: String, line: LineReference, active: ActiveLevel, initially: Bool, provider: any LineProvider,
        loop: EventLoop, deliver: @escaping (BoardEvent) -> Void
    ) {
        self.subject = subject
        self.line = line
        self.active = active
        self.provider = provider
        self.loop = loop
        self.deliver = deliver
        wanted = initially
    }

    func start() {
        do throws(LineError) {
            output = try provider.output(line, active: active, initially: wanted)
            failures.reset()
            deliver(.ready(subject: subject))
        } catch {
            fail(error)
        }
    }

    /// Releases the line with its current value.
    func stop() {
        output = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    func set(_ isActive: Bool) {
        guard isActive != wanted else { return }
        wanted = isActive
        guard let output else { return }
        do throws(LineError) {
            try output.set(isActive)
        } catch {
            fail(error)
        }
    }

    private func fail(_ error: LineError) {
        output = nil
        timer = loop.schedule(after: failures.nextDelay()) {
            self.timer = nil
            self.start()
        }
        if failures.isNews(error) { deliver(.unavailable(subject: subject, error)) }
    }
}
