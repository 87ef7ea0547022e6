import Output
import Platform

/// Reads the renderer's events for the conductor. The audio thread makes no system call to announce them, so the poller
/// looks soon after a command, less and less often while nothing happens, and not at all while nothing is expected.
///
/// Thread: only control.
final class RendererEventPoller {
    private let loop: EventLoop
    private let renderer: Renderer
    private let link: ConductorLink
    private let timer: LoopTimer
    private var pacer = EventPacer()
    private var isPolling = false
    /// Whether the next look waits for `timer`.
    private var isTimed = false
    /// What waits for the renderer to carry a command out.
    private var waiting: [(command: UInt64, action: () -> Void)] = []

    init(_ renderer: Renderer, loop: EventLoop, link: ConductorLink) {
        (self.renderer, self.loop, self.link) = (renderer, loop, link)
        timer = LoopTimer(loop)
    }

    /// The renderer got a command: events are expected soon.
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
        // Nothing is on its way to the renderer, so the question is no reason to look more often from now on.
        if isTimed { poll() }
    }

    func stop() { timer.cancel() }

    private func schedule() {
        guard let conductor = link.conductor else { return }
        isTimed = true
        timer.start(after: pacer.next(remaining: conductor.remainingSeconds)) { [self] in
            pacer.slowDown()
            poll()
        }
    }

    /// One event a turn of the loop: what a listener does about a message comes before what happened after it.
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
