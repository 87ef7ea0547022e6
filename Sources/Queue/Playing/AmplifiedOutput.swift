import Platform
import Player

/// The only path from the queue to the engine. The engine starts, stops and reopens the device while the amplifier is
/// muted, so that it makes no pop. Without an amplifier there is no delay (docs/decisions/amplifier-and-reopening.md).
///
/// Thread: everything runs on the thread of `loop`.
/// `@unchecked Sendable` is safe because the engine's thread only posts to `loop`.
package final class AmplifiedOutput: @unchecked Sendable {
    private let engine: PlaybackEngine
    private let loop: EventLoop
    private var amplifier: (any OutputAmplifier)?
    /// Whether the last request was to play.
    private var wantsToPlay = false
    /// Whether the next start of the engine was not requested by the user.
    private var startsAutomatically = false
    /// The request that waits until the amplifier is silent.
    private var pending: (() -> Void)?
    /// Called when the pending request is done or cancelled.
    private var waiting: [@Sendable () -> Void] = []
    private var isHeard = false
    /// Lets the engine reopen the device; nil when the engine does not wait for permission.
    private var reopen: (() -> Void)?

    init(engine: PlaybackEngine, loop: EventLoop) {
        self.engine = engine
        self.loop = loop
    }

    /// Sets the amplifier. Call it once, before any playback.
    package func use(_ amplifier: any OutputAmplifier) {
        loop.assertOnLoop()
        self.amplifier = amplifier
        engine.askBeforeReopening { [self, loop] reopening in
            loop.post { self.deviceIs(reopening) }
        }
    }

    /// Loads another product. If the device still has to be freed, it is freed first.
    func load(_ product: MediaProduct) {
        loop.assertOnLoop()
        if pending != nil { carryOutPending() }
        wantsToPlay = false
        reopen = nil
        engine.load(product)
    }

    func setNext(_ product: MediaProduct?) { engine.setNext(product) }

    /// - Parameter seconds: the position in the active product.
    func seek(_ seconds: Double) { engine.seek(seconds) }

    /// - Parameter isAutomatic: see `PlaybackEngine.play`.
    func play(isAutomatic: Bool) {
        loop.assertOnLoop()
        pending = nil
        endWaiting()
        wantsToPlay = true
        startsAutomatically = isAutomatic
        guard let amplifier else { return startEngine() }
        if reopen != nil { return amplifier.restartDevice() }
        if amplifier.isDeviceStarted { startEngine() }
        amplifier.wantDevice()
    }

    private func startEngine() {
        engine.play(isAutomatic: startsAutomatically)
        startsAutomatically = true
    }

    func pause() { afterMuting { [engine] in engine.pause() } }

    func reset() { afterMuting { [engine] in engine.reset() } }

    /// Calls `action` on the engine's thread when all requests are done: after `reset` the device is then free.
    func afterRequests(_ action: @escaping @Sendable () -> Void) {
        loop.assertOnLoop()
        if pending == nil { engine.afterRequests(action) } else { waiting.append(action) }
    }

    private func endWaiting() {
        let actions = waiting
        waiting = []
        for action in actions { engine.afterRequests(action) }
    }

    private func afterMuting(_ action: @escaping () -> Void) {
        loop.assertOnLoop()
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

    /// Starts the device. The amplifier has been silent for long enough.
    package func deviceMayStart() {
        loop.assertOnLoop()
        reopen?()
        reopen = nil
        if wantsToPlay { startEngine() }
        if isHeard { amplifier?.deviceStarted() }
    }

    /// Stops the device. The amplifier has been silent for long enough.
    package func deviceMayStop() {
        loop.assertOnLoop()
        carryOutPending()
    }

    /// Handles a state of the engine: the amplifier is on only while something plays.
    func engineIs(_ state: PlaybackState) {
        loop.assertOnLoop()
        isHeard = state == .playing
        switch state {
        case .playing:
            // After a stall, the engine has started the device by itself.
            if pending == nil { amplifier?.wantDevice() }
            amplifier?.deviceStarted()
        case .idle, .stalled:
            // The device waits for the amplifier, or this report is older than the request to play.
            if let amplifier, amplifier.isDeviceStarted { amplifier.deviceLost() }
            carryOutPending()
        case .notPlaying:
            break
        }
    }

    /// Handles a device that is reopened while it plays.
    private func deviceIs(_ reopening: DeviceReopening) {
        switch reopening {
        case .asked(let proceed):
            reopen = proceed
            isHeard = false
            // Otherwise another request to the engine follows.
            if wantsToPlay { amplifier?.restartDevice() }
        case .started:
            isHeard = true
            amplifier?.deviceStarted()
        }
    }
}
