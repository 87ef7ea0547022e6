import Database
import Glibc
import Network
import Output
import Platform
import Player

/// How long after `play()` on a loaded product its first frame is written.
///
/// `Meter start FILE REPETITIONS` prints the milliseconds of each repetition, a line each. The time is taken when the
/// message PLAYING arrives. So it includes the time until control learns of the start, and is never too short.
/// `Meter start PRODUCT REPETITIONS STATE` does so with an offline copy in the state folder of a daemon.
enum StartLatency {
    static func run(_ words: [String]) {
        guard (2...3).contains(words.count), let repetitions = Int(words[1]) else {
            Meter.fail("usage: Meter start FILE|PRODUCT REPETITIONS [STATE]")
        }
        do {
            try measure(words[0], repetitions, copies: try words.dropFirst(2).first.map { try copies(in: $0) })
        } catch {
            Log.error("\(error)")
            exit(1)
        }
    }

    /// The offline copies in the state folder of a daemon. No service is there.
    private static func copies(in folder: String) throws -> Offlining {
        let storage = try StorageThread("\(folder)/tonearm.db", modules: [Player.schema, Offlining.schema])
        let clock = TrustedClock(store: nil)
        let streaming = try StreamingService(
            StreamingSettings(service: ServiceSettings(baseURL: "https://localhost")),
            clock: TrustedCertificateClock(clock, released: 0), storage: nil)
        return try Offlining(
            OfflineSettings(folder: "\(folder)/offline"), streaming, storage: storage, clock: clock, keyFolder: folder)
    }

    private static func measure(_ path: String, _ repetitions: Int, copies: Offlining?) throws(PlayerError) {
        var settings = PlayerSettings(output: RendererSettings(device: "null"))
        settings.firstVolume = .full
        settings.offlining = copies
        let player = try Player(settings: settings, source: SourceRouter(copies: copies?.source))
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
// @unchecked: `condition` guards the mutable state.
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
