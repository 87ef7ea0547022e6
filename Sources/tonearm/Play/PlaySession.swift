import Output
import PCM
import Platform
import Player
import Queue

/// Plays files from the first to the last, shows the state and carries out the listener's keys.
///
/// Thread: the main thread's event loop. Only `queue` is used on the player's loop: a device that writes a file, or a
/// very short track, leaves no time for a change of threads (docs/decisions/queue-as-a-value.md).
/// `@unchecked Sendable` is safe because the player's thread only posts to the main loop.
final class PlaySession: @unchecked Sendable {
    enum Outcome: Equatable {
        /// The end of the queue, or a key.
        case finished
        case signal(Int32)
    }

    private let engine: PlaybackEngine
    private let configuration: PlaybackEngineConfig
    private let console: Console
    private let loop: EventLoop
    private let playerLoop: EventLoop
    private let finish: () -> Void
    private let queue: QueueConductor
    /// Whether playback ends: the engine has not reported yet that it is idle.
    private var isEnding = false

    /// The state as of the engine's last message. The engine's properties may be newer.
    private var file: String
    private var context: PlaybackContext?
    private var state = PlaybackState.idle

    var presentation: (any Presentation)?
    /// Whether there are keys, so that the user can resume after a pause.
    var hasKeys = false
    private(set) var outcome = Outcome.finished
    private(set) var hasFailed = false
    private(set) var hasLostDevice = false

    /// - Parameters:
    ///   - loop: the loop of this thread.
    ///   - finish: called when the session has ended.
    /// - Throws: when there are more files than a queue can hold.
    init(
        player: Player, files: [String], console: Console, loop: EventLoop, finish: @escaping () -> Void
    ) throws(PlayQueueError) {
        var contents = PlayQueue()
        try contents.set(files.map { QueuedProduct(.track, $0) }, random: SystemRandomSource())
        engine = player.playbackEngine
        configuration = player.playbackEngineConfig
        self.console = console
        self.loop = loop
        playerLoop = player.loop
        self.finish = finish
        queue = QueueConductor(engine: engine, loop: playerLoop, queue: contents, rules: .command)
        file = files.first ?? ""
    }

    /// Begins with the first file.
    /// - Parameter position: the position in this file, in seconds.
    func start(at position: Double) {
        engine.bus.subscribe { [self, engine] message in
            let output = (engine.assetPosition, engine.deviceConfiguration, engine.signalPath)
            loop.post { self.receive(message, output) }
        }
        playerLoop.post { [self] in
            queue.observe = { [self] message in
                if message == .ended { loop.post { self.queueHasEnded() } }
            }
            queue.resume(at: position, playing: true)
        }
    }

    /// Ends the session: it shows and requests nothing any more.
    func end() {
        playerLoop.post { [queue] in queue.shutDown() }
    }

    /// Ends early: on a signal, or because the reader has closed the output, which is SIGPIPE.
    func stop(because signal: Int32) {
        outcome = .signal(signal)
        stop()
    }

    /// Stops, and ends when the engine reports it, or at once on a second request.
    private func stop() {
        if isEnding || state == .idle { return finish() }
        isEnding = true
        playerLoop.post { [queue] in queue.stop() }
    }

    /// Handles the end of the queue.
    private func queueHasEnded() {
        isEnding = true
        if state == .idle { finish() }
    }

    /// The position, the device and the changes to the samples.
    private typealias Output = (position: Double?, device: DeviceConfiguration?, path: SignalPath?)

    var now: NowPlaying { now((engine.assetPosition, engine.deviceConfiguration, engine.signalPath)) }

    private func now(_ output: Output) -> NowPlaying {
        NowPlaying(
            file: file, context: context, state: state, position: state == .idle ? nil : output.position,
            device: output.device, path: output.path,
            volume: configuration.isMuted ? 0 : configuration.volume.percent)
    }

    // MARK: The engine's messages

    /// - Parameter output: the output at the time of the message; a moment later it may belong to another product.
    private func receive(_ message: PlaybackMessage, _ output: Output) {
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
        case .streamingPrivilegesRevoked(let otherDevice):
            revoked(by: otherDevice)
        }
        presentation?.received(message, now: now(output))
        if isEnding, state == .idle { finish() }
    }

    /// Handles the loss of the right to play to another device. The queue has paused.
    private func revoked(by otherDevice: String?) {
        let takeover = Self.takeover(by: otherDevice)
        guard !hasKeys else { return console.complain("\(takeover); paused. Space plays on here.") }
        console.complain(takeover)
        hasFailed = true
        stop()
    }

    /// The reason why playback has paused without a request.
    /// - Parameter otherDevice: the name of the device that plays now; nil when unknown.
    static func takeover(by otherDevice: String?) -> String {
        "\(otherDevice ?? "another device") plays with the same subscription"
    }

    /// Prints an error. The message begins with the file; errors of a device name only the device.
    private func complain(_ error: PlayerError) {
        guard let file = error.mediaProduct?.productId, !error.message.utf8.starts(with: file.utf8) else {
            return console.complain(error.message)
        }
        console.complain("\(file): \(error.message)")
    }

    // MARK: The listener's keys

    func handle(_ control: PlayControl) {
        switch control {
        case .pauseOrResume:
            playerLoop.post { [queue] in queue.toggle() }
        case .jump(let seconds):
            playerLoop.post { [queue] in queue.seek(to: queue.position + seconds) }
        case .volume(let percent):
            configuration.isMuted = false
            configuration.volume = Volume(percent: configuration.volume.percent + percent)
        case .next:
            playerLoop.post { [self] in skip() }
        case .previous:
            playerLoop.post { [queue] in queue.previous() }
        case .quit:
            stop()
        }
        presentation?.changed()
    }

    /// Skips a file. Skipping the last one ends the command. Called on the player's loop.
    private func skip() {
        if queue.contents.upNext == nil { loop.post { self.stop() } } else { queue.next() }
    }
}
