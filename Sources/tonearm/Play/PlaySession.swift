import Output
import PCM
import Platform
import Player

/// Plays files from the first to the last, shows what happens and does what the listener wants.
///
/// Thread: the main thread's event loop.
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
    private let queue: QueuePlayer
    /// Nothing more is to be played; the engine has yet to say that it is idle.
    private var isEnding = false

    /// As the engine's messages tell; all of them together, unlike its properties, which may be ahead.
    private var file: String
    private var context: PlaybackContext?
    private var state = PlaybackState.idle

    var presentation: (any Presentation)?
    private(set) var outcome = Outcome.finished
    private(set) var hasFailed = false
    private(set) var hasLostDevice = false

    /// - Parameter finish: called when there is nothing more to do.
    init(player: Player, files: [String], console: Console, finish: @escaping () -> Void) {
        engine = player.playbackEngine
        configuration = player.playbackEngineConfig
        self.console = console
        self.finish = finish
        queue = QueuePlayer(files, engine: engine)
        file = files.first ?? ""
    }

    /// Begins with the first file.
    /// - Parameters:
    ///   - position: where in it, in seconds.
    ///   - loop: this thread's.
    func start(at position: Double, on loop: EventLoop) {
        engine.bus.subscribe { [self, engine, queue] message in
            let isOver = queue.receive(message)
            let (position, device) = (engine.assetPosition, engine.deviceConfiguration)
            loop.post { self.receive(message, position, device, isOver: isOver) }
        }
        queue.start(at: position)
    }

    /// Ends early: a signal, or nobody reads the output any more, which is SIGPIPE.
    func stop(because signal: Int32) {
        outcome = .signal(signal)
        stop()
    }

    /// Falls silent and ends when the engine has said so, or at once when asked again.
    private func stop() {
        if isEnding || state == .idle { return finish() }
        isEnding = true
        engine.reset()
    }

    var now: NowPlaying { now(engine.assetPosition, engine.deviceConfiguration) }

    private func now(_ position: Double?, _ device: DeviceConfiguration?) -> NowPlaying {
        NowPlaying(
            file: file, context: context, state: state, position: state == .idle ? nil : position, device: device,
            volume: configuration.isMuted ? 0 : configuration.volume.percent)
    }

    // MARK: The engine's messages

    /// - Parameters:
    ///   - position: when it was sent, as is `device`: a moment later both may be another product's.
    ///   - isOver: nothing follows.
    private func receive(
        _ message: PlaybackMessage, _ position: Double?, _ device: DeviceConfiguration?, isOver: Bool
    ) {
        switch message {
        case .mediaProductTransition(let transition):
            if let active = transition.active { file = active.productId }
            context = transition.context
        case .playbackStateChanged(let changed):
            state = changed
        case .playbackQualityChanged(let changed):
            context = changed
        case .error(let error):
            hasFailed = true
            if error.isOfDevice { hasLostDevice = true }
            complain(error)
            context = nil
        case .streamingPrivilegesRevoked:
            break
        }
        presentation?.received(message, now: now(position, device))
        if isOver { isEnding = true }
        if isEnding, state == .idle { finish() }
    }

    /// The file goes first; errors of a device name that alone.
    private func complain(_ error: PlayerError) {
        guard let file = error.mediaProduct?.productId, !error.message.utf8.starts(with: file.utf8) else {
            return console.complain(error.message)
        }
        console.complain("\(file): \(error.message)")
    }

    // MARK: The listener's wishes

    func handle(_ control: PlayControl) {
        switch control {
        case .pauseOrResume:
            queue.pauseOrResume()
        case .jump(let seconds):
            if let position = engine.assetPosition { engine.seek(position + seconds) }
        case .volume(let percent):
            configuration.isMuted = false
            configuration.volume = Volume(percent: configuration.volume.percent + percent)
        case .next:
            if queue.skip() { stop() }
        case .previous:
            queue.goBack()
        case .quit:
            stop()
        }
        presentation?.changed()
    }
}
