import Board
import Player

/// Lets the engine play and fall silent while the amplifier is muted, so that neither pops. Without an amplifier it
/// does so at once.
///
/// Thread: that of the conductor.
final class AmplifiedOutput {
    private let engine: PlaybackEngine
    /// Set once, before anything is played.
    var amplifier: Amplifier?
    /// What is to be done when the amplifier is silent.
    private var pending: (() -> Void)?
    /// What is to be called when that is done, or no longer wanted.
    private var waiting: [@Sendable () -> Void] = []
    private var isHeard = false

    init(engine: PlaybackEngine) { self.engine = engine }

    /// Makes something else ready. A device that is still to be freed is freed first.
    func load(_ product: MediaProduct) {
        if pending != nil { carryOutPending() }
        engine.load(product)
    }

    func play() {
        pending = nil
        endWaiting()
        guard let amplifier, !amplifier.isDeviceStarted else { engine.play(); amplifier?.wantDevice(); return }
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
        guard let amplifier else { return action() }
        pending = action
        amplifier.releaseDevice()
        if !amplifier.isStopping { carryOutPending() }
    }

    private func carryOutPending() {
        let action = pending
        pending = nil
        action?()
        endWaiting()
    }

    /// The amplifier has been silent for long enough.
    func carryOut(_ step: Amplifier.DeviceStep) {
        switch step {
        case .start:
            engine.play()
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
            amplifier?.deviceLost()
            carryOutPending()
        case .notPlaying:
            break
        }
    }
}
