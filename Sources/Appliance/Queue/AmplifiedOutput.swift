import Board
import Platform
import Player

/// The one way from the queue to the engine. Lets the engine play, fall silent and reopen the device while the
/// amplifier is muted, so that nothing pops; without an amplifier it does so at once.
///
/// Thread: that of `loop`, everything.
/// `@unchecked Sendable` is safe because the engine's thread only posts to `loop`.
final class AmplifiedOutput: @unchecked Sendable {
    private let engine: PlaybackEngine
    private let loop: EventLoop
    private var amplifier: Amplifier?
    /// Whether the last thing asked for was to play.
    private var wantsToPlay = false
    /// What is to be done when the amplifier is silent.
    private var pending: (() -> Void)?
    /// What is to be called when that is done or cancelled.
    private var waiting: [@Sendable () -> Void] = []
    private var isHeard = false
    /// Lets the engine reopen the device; nil when it does not wait for that.
    private var reopen: (() -> Void)?

    init(engine: PlaybackEngine, loop: EventLoop) {
        self.engine = engine
        self.loop = loop
    }

    /// To be called once, before anything is played.
    func use(_ amplifier: Amplifier) {
        self.amplifier = amplifier
        engine.askBeforeReopening { [self, loop] reopening in
            loop.post { self.deviceIs(reopening) }
        }
    }

    /// Makes something else ready. A device that is still to be freed is freed first.
    func load(_ product: MediaProduct) {
        if pending != nil { carryOutPending() }
        wantsToPlay = false
        reopen = nil
        engine.load(product)
    }

    func setNext(_ product: MediaProduct?) { engine.setNext(product) }

    /// - Parameter seconds: in the active product.
    func seek(_ seconds: Double) { engine.seek(seconds) }

    func play() {
        pending = nil
        endWaiting()
        wantsToPlay = true
        guard let amplifier else { return engine.play() }
        if reopen != nil { return amplifier.restartDevice() }
        if amplifier.isDeviceStarted { engine.play() }
        amplifier.wantDevice()
    }

    func pause() { afterMuting { [engine] in engine.pause() } }

    func reset() { afterMuting { [engine] in engine.reset() } }

    /// Calls `action` on the engine's thread when all that was asked for is done: after `reset` the device is free
    /// then.
    func afterRequests(_ action: @escaping @Sendable () -> Void) {
        if pending == nil { engine.afterRequests(action) } else { waiting.append(action) }
    }

    private func endWaiting() {
        let actions = waiting
        waiting = []
        for action in actions { engine.afterRequests(action) }
    }

    private func afterMuting(_ action: @escaping () -> Void) {
        wantsToPlay = false
        guard let amplifier else { return action() }
        pending = action
        amplifier.releaseDevice()
        if !amplifier.isStopping { carryOutPending() }
    }

    private func carryOutPending() {
        if let action = pending {
            pending = nil
            reopen = nil
            action()
        }
        endWaiting()
    }

    /// The amplifier has been silent for long enough.
    func carryOut(_ step: Amplifier.DeviceStep) {
        switch step {
        case .start:
            reopen?()
            reopen = nil
            if wantsToPlay { engine.play() }
            if isHeard { amplifier?.deviceStarted() }
        case .stop:
            carryOutPending()
        }
    }

    /// What the engine says: the amplifier is to be heard only while something plays.
    func engineIs(_ state: PlaybackState) {
        isHeard = state == .playing
        switch state {
        case .playing:
            // After a stall it has begun by itself.
            if pending == nil { amplifier?.wantDevice() }
            amplifier?.deviceStarted()
        case .idle, .stalled:
            // A device that waits for the amplifier is late for that reason, or this was said before it was wanted.
            if let amplifier, amplifier.isDeviceStarted { amplifier.deviceLost() }
            carryOutPending()
        case .notPlaying:
            break
        }
    }

    /// What the engine says of a device that is reopened while it plays.
    private func deviceIs(_ reopening: DeviceReopening) {
        switch reopening {
        case .asked(let goOn):
            reopen = goOn
            isHeard = false
            // Otherwise the engine is about to be told something else.
            if wantsToPlay { amplifier?.restartDevice() }
        case .started:
            isHeard = true
            amplifier?.deviceStarted()
        }
    }
}
