import Output
import PCM
import Platform
import Player

/// Plays a queue from its first product to its end: the engine's messages and the listener's wishes come in, calls of
/// the engine go out.
///
/// Thread: the main thread's event loop; `receive` is posted to it.
final class PlaySession: @unchecked Sendable {
    enum Outcome: Equatable {
        /// The end of the queue, or the listener's wish.
        case finished
        case signal(Int32)
    }

    private let engine: PlaybackEngine
    private let configuration: PlaybackEngineConfig
    private let console: Console
    private let finish: () -> Void
    private var queue: PlayQueue
    private var isPaused = false
    /// All is played; the engine has yet to say that it is idle.
    private var isEnding = false

    /// As the engine's messages tell; all of them together, unlike its properties, which may be ahead.
    private var file: String
    private var context: PlaybackContext?
    private var state = PlaybackState.idle

    var presentation: (any Presentation)?
    private(set) var outcome = Outcome.finished
    private(set) var hasFailed = false

    /// - Parameter finish: called when there is nothing more to do.
    init(player: Player, files: [String], console: Console, finish: @escaping () -> Void) {
        engine = player.playbackEngine
        configuration = player.playbackEngineConfig
        self.console = console
        self.finish = finish
        queue = PlayQueue(files)
        file = files.first ?? ""
    }

    /// Begins with the first product.
    /// - Parameter position: where in it, in seconds.
    func start(at position: Double) {
        carryOut(queue.start())
        if position > 0 { engine.seek(position) }
    }

    /// Ends early: a signal, or nobody reads the output any more, which is SIGPIPE.
    func stop(because signal: Int32) {
        outcome = .signal(signal)
        finish()
    }

    var now: NowPlaying {
        NowPlaying(
            file: file, context: context, state: state, position: state == .idle ? nil : engine.assetPosition,
            device: engine.deviceConfiguration, volume: configuration.isMuted ? 0 : configuration.volume.percent)
    }

    // MARK: The engine's messages

    func receive(_ message: PlaybackMessage) {
        var step = PlayQueue.Step.nothing
        switch message {
        case .mediaProductTransition(let transition):
            if let active = transition.active { file = active.productId }
            context = transition.context
            step = queue.heard(transition.active)
        case .playbackStateChanged(let changed):
            state = changed
        case .playbackQualityChanged(let changed):
            context = changed
        case .error(let error):
            hasFailed = true
            complain(error)
            context = nil
            step = queue.failed(error.mediaProduct)
        case .streamingPrivilegesRevoked:
            break
        }
        presentation?.received(message, now: now)
        if step == .finish { isEnding = true } else { carryOut(step) }
        if isEnding, state == .idle { finish() }
    }

    /// The file goes first; errors of a device name that alone.
    private func complain(_ error: PlayerError) {
        guard let file = error.mediaProduct?.productId, !error.message.utf8.starts(with: file.utf8) else {
            return console.complain(error.message)
        }
        console.complain("\(file): \(error.message)")
    }

    private func carryOut(_ step: PlayQueue.Step) {
        switch step {
        case .load(let product):
            file = product.productId
            engine.load(product)
            if !isPaused { engine.play() }
        case .setNext(let product):
            engine.setNext(product)
        case .restart:
            engine.seek(0)
        case .finish:
            finish()
        case .nothing:
            break
        }
    }

    // MARK: The listener's wishes

    func handle(_ control: PlayControl) {
        switch control {
        case .pauseOrResume:
            isPaused.toggle()
            if isPaused { engine.pause() } else { engine.play() }
        case .jump(let seconds):
            if let position = engine.assetPosition { engine.seek(position + seconds) }
        case .volume(let percent):
            configuration.isMuted = false
            configuration.volume = Volume(percent: configuration.volume.percent + percent)
        case .next:
            carryOut(queue.skip())
        case .previous:
            carryOut(queue.goBack(from: engine.assetPosition ?? 0))
        case .quit:
            finish()
        }
        presentation?.changed()
    }
}
