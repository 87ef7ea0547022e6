import Output
import Platform
import Player

/// For `tools/bench`: how long after `play()` on a loaded product its first frame is written.
///
/// `StartLatency FILE REPETITIONS` prints the milliseconds of each repetition, a line each. The time is taken when the
/// message PLAYING arrives, so it includes the time until control learns of the start: never less than the truth.
@main struct StartLatency {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let repetitions = Int(arguments[2]) else {
            return print("usage: StartLatency FILE REPETITIONS")
        }
        do throws(PlayerError) {
            try measure(arguments[1], repetitions)
        } catch {
            Log.error(error.message)
        }
    }

    private static func measure(_ path: String, _ repetitions: Int) throws(PlayerError) {
        var settings = PlayerSettings(output: RendererSettings(device: "null"))
        settings.firstVolume = .full
        let player = try Player(settings: settings, source: LocalFiles())
        defer { player.shutDown() }
        let messages = Messages()
        let engine = player.playbackEngine
        engine.bus.subscribe { messages.take($0) }
        let clock = SystemMonotonicClock()
        for repetition in 0..<repetitions {
            engine.load(MediaProduct(productType: .track, productId: path, referenceId: "\(repetition)"))
            messages.wait {
                if case .mediaProductTransition(let transition) = $0 { transition.active != nil } else { false }
            }
            let start = clock.now()
            engine.play()
            messages.wait { $0 == .playbackStateChanged(.playing) }
            print(((Double(clock.now() - start)) / 1e6).fixed(2))
            engine.reset()
            messages.wait { $0 == .playbackStateChanged(.idle) }
        }
    }
}

/// The engine's messages, for a thread that waits for one of them.
private final class Messages: @unchecked Sendable {
    private let condition = Condition()
    /// Guarded by `condition`.
    private var received: [PlaybackMessage] = []

    func take(_ message: PlaybackMessage) { condition.update { received.append(message) } }

    /// Returns when one has come that `isAwaited`; it and those before it are forgotten.
    func wait(_ isAwaited: (PlaybackMessage) -> Bool) {
        condition.wait { received.contains(where: isAwaited) }
        condition.update {
            if let index = received.firstIndex(where: isAwaited) { received.removeFirst(index + 1) }
        }
    }
}
