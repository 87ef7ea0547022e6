import Platform

/// Watches the lines of one input on the event loop. It requests them, retries when that fails or they are lost, reads
/// their edges, and sets a timer for the input's deadline.
///
/// Thread: the loop's. The loop holds it until `stop`.
final class LineWatch {
    private let input: any BoardInput
    private let provider: any LineProvider
    private let loop: EventLoop
    private let clock: any MonotonicClock
    private let deliver: (BoardEvent) -> Void

    /// The lines; empty while they cannot be used.
    private var sources: [any LineEventSource] = []
    private var failures = LineFailures()
    private var timer: TimerToken?
    private var isStopped = false

    init(
        _ input: any BoardInput, provider: any LineProvider, loop: EventLoop, clock: any MonotonicClock,
        deliver: @escaping (BoardEvent) -> Void
    ) {
        self.input = input
        self.provider = provider
        self.loop = loop
        self.clock = clock
        self.deliver = deliver
    }

    func start() {
        do throws(LineError) {
            for request in input.lines {
                let source = try provider.input(
                    request.line, active: request.active, bias: request.bias, debounce: request.debounce)
                sources.append(source)
                do throws(SystemError) {
                    try loop.watch(source.descriptor, for: .readable) { _ in self.takeEdges() }
                } catch {
                    throw LineError.failed(request.line, operation: error.operation, code: error.code)
                }
            }
            var active: [Bool] = []
            for source in sources { active.append(try source.isActive()) }
            failures.reset()
            notify([.ready(subject: input.subject)])
            notify(input.began(active, at: clock.now()))
            schedule()
        } catch {
            fail(error)
        }
    }

    func stop() {
        isStopped = true
        release()
    }

    private func release() {
        for source in sources { loop.unwatch(source.descriptor) }
        sources = []
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    /// Releases the lines, which cannot be used, and retries later.
    private func fail(_ error: LineError) {
        release()
        if failures.isNews(error) { notify([.unavailable(subject: input.subject, error)]) }
        guard !isStopped else { return }
        timer = loop.schedule(after: failures.nextDelay()) {
            self.timer = nil
            self.start()
        }
    }

    private func takeEdges() {
        do throws(LineError) {
            let now = clock.now()
            var edges: [(line: Int, edge: LineEdge)] = []
            for line in sources.indices {
                for var edge in try sources[line].takeEdges() {
                    // Before Linux 5.7 the kernel's time stamps used the wall clock.
                    edge.time = max(0, min(edge.time, now))
                    edges.append((line, edge))
                }
            }
            // Two contacts of an encoder have separate descriptors; only the time stamps define their order.
            edges.sort { $0.edge.time < $1.edge.time }
            for (line, edge) in edges { notify(input.changed(line, edge)) }
            schedule()
        } catch {
            fail(error)
        }
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard !isStopped, let deadline = input.deadline else { return }
        timer = loop.schedule(after: deadline - clock.now()) {
            self.timer = nil
            self.timePassed()
        }
    }

    private func timePassed() {
        // An edge from before the deadline may still be waiting. It would have moved the deadline.
        takeEdges()
        guard let first = sources.first, let deadline = input.deadline else { return }
        let now = clock.now()
        guard deadline <= now else { return }
        do throws(LineError) {
            let active = try first.isActive()
            notify(input.timePassed(to: now, active: active))
            schedule()
        } catch {
            fail(error)
        }
    }

    private func notify(_ events: [BoardEvent]) {
        // The receiver of an event may stop this watch.
        for event in events where !isStopped { deliver(event) }
    }
}
