import Output
import Platform

/// Reads the renderer's events for the conductor. The audio thread makes no system call to announce them, so the poller
/// polls soon after a command. It polls less and less often while there are no events, and stops when none are
/// expected.
///
/// Thread: only control.
final class RendererEventPoller {
    private let loop: EventLoop
    private let renderer: Renderer
    private let link: ConductorLink
    private let timer: LoopTimer
    private var pacer = EventPacer()
    private var isPolling = false
    /// Whether the next poll waits for `timer`.
    private var isTimed = false
    /// The actions that wait for the renderer to carry a command out.
    private var waiting: [(command: UInt64, action: () -> Void)] = []

    init(_ renderer: Renderer, loop: EventLoop, link: ConductorLink) {
        (self.renderer, self.loop, self.link) = (renderer, loop, link)
        timer = LoopTimer(loop)
    }

    /// Polls soon, because the renderer got a command and events are expected.
    func hurry() {
        let mayBeLate = pacer.isSlow
        pacer.hurry()
        if !isPolling {
            isPolling = true
            poll()
        } else if mayBeLate {
            schedule()
        }
    }

    /// Calls `action` once the renderer has carried out all commands sent so far.
    func afterCommands(_ action: @escaping () -> Void) {
        waiting.append((renderer.sentCommands, action))
        guard isPolling, renderer.processedCommands >= renderer.sentCommands else { return hurry() }
        // No command is pending in the renderer, so one poll is enough.
        if isTimed { poll() }
    }

    func stop() { timer.cancel() }

    /// Reads the remaining events of a renderer that has ended.
    func discardEvents() {
        while let event = renderer.nextEvent() { event.release() }
    }

    private func schedule() {
        guard let conductor = link.conductor else { return }
        isTimed = true
        timer.start(after: pacer.next(remaining: conductor.remainingSeconds)) { [self] in
            pacer.slowDown()
            poll()
        }
    }

    /// Handles one event in each turn of the loop: a listener's reaction to a message precedes the next event.
    private func poll() {
        guard let conductor = link.conductor else { return }
        timer.cancel()
        isTimed = false
        let processed = renderer.processedCommands
        if let event = renderer.nextEvent() {
            pacer.hurry()
            conductor.receive(event)
            loop.post { [link] in link.conductor?.poller.poll() }
            return
        }
        conductor.caughtUp(with: processed)
        while let first = waiting.first, first.command <= processed {
            waiting.removeFirst()
            first.action()
        }
        if conductor.expectsEvents || processed < renderer.sentCommands {
            schedule()
        } else {
            isPolling = false
        }
    }
}
