import Platform
import Player

/// Carries out what `PlayQueue` decides.
///
/// Threads: any. The engine's messages have to be handed in where they arrive: what follows a product must be known
/// before it ends, and a device that writes a file, or a very short track, leaves no time for a detour.
final class QueuePlayer: @unchecked Sendable {
    private let engine: PlaybackEngine
    private let lock = Lock()
    /// Guarded by `lock`, as is `isPaused`.
    private var queue: PlayQueue
    private var isPaused = false

    init(_ files: [String], engine: PlaybackEngine) {
        queue = PlayQueue(files)
        self.engine = engine
    }

    /// Begins with the first product.
    /// - Parameter position: where in it, in seconds.
    func start(at position: Double) { perform(at: position) { $0.start() } }

    /// - Returns: whether all is played.
    @discardableResult
    func receive(_ message: PlaybackMessage) -> Bool {
        switch message {
        case .mediaProductTransition(let transition): perform { $0.heard(transition.active) }
        // Where the device takes no more, the next one would fare no better.
        case .error(let error): error.isOfDevice || perform { $0.failed(error.mediaProduct) }
        case .playbackStateChanged, .playbackQualityChanged, .streamingPrivilegesRevoked: false
        }
    }

    /// - Returns: whether there was nothing more to go to.
    func skip() -> Bool { perform { $0.skip() } }

    func goBack() {
        let position = engine.assetPosition ?? 0
        perform { $0.goBack(from: position) }
    }

    func pauseOrResume() {
        lock.withLock {
            isPaused.toggle()
            if isPaused { engine.pause() } else { engine.play() }
        }
    }

    /// The engine gets its requests under the lock, so that it gets them in the order of the decisions.
    /// - Parameter position: where a product that is loaded begins, in seconds.
    @discardableResult
    private func perform(at position: Double = 0, _ decide: (inout PlayQueue) -> PlayQueue.Step) -> Bool {
        lock.withLock {
            switch decide(&queue) {
            case .load(let product):
                engine.load(product)
                if position > 0 { engine.seek(position) }
                if !isPaused { engine.play() }
            case .skipToNext:
                engine.skipToNext()
            case .setNext(let product):
                engine.setNext(product)
            case .restart:
                engine.seek(0)
            case .finish:
                return true
            case .nothing:
                break
            }
            return false
        }
    }
}
