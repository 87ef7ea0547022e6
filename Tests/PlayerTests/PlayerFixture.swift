import Foundation
import Output
import OutputTestSupport
import PCM
import Platform
import TestSupport

@testable import Player

/// A player with a paced card, a clock that is driven by hand, and a log of its messages.
final class PlayerFixture: @unchecked Sendable {
    let card = PacedCard()
    let clock = ManualClock()
    let player: Player
    private let condition = NSCondition()
    /// Guarded by `condition`.
    private var received: [PlaybackMessage] = []

    init(source: any PlaybackSource = LocalFiles(), stateFolder: String? = nil) throws {
        let settings = PlayerSettings(output: RendererSettings(device: "paced"), stateFolder: stateFolder)
        let lastSession = Recorder<Int>()
        player = try Player(
            settings: settings, source: source, provider: card, clock: clock,
            newSessionID: {
                lastSession.record(0)
                return "session-\(lastSession.elements.count)"
            },
            openMixer: { nil })
        player.playbackEngineConfig.loudnessNormalizationMode = .off
        player.playbackEngine.bus.subscribe { [self] message in
            condition.withLock {
                received.append(message)
                condition.broadcast()
            }
        }
    }

    deinit { player.shutDown() }

    var engine: PlaybackEngine { player.playbackEngine }

    /// All messages so far.
    var messages: [PlaybackMessage] { condition.withLock { received } }

    /// Waits until `count` messages have come in all.
    @discardableResult
    func messages(_ count: Int, file: StaticString = #file, line: UInt = #line) -> [PlaybackMessage] {
        waitUntil("\(count) messages", file: file, line: line) { $0.count >= count }
    }

    /// Waits until `isTrue` of all messages so far.
    @discardableResult
    func waitUntil(
        _ what: String, file: StaticString = #file, line: UInt = #line, _ isTrue: ([PlaybackMessage]) -> Bool
    ) -> [PlaybackMessage] {
        condition.lock()
        defer { condition.unlock() }
        let limit = Date(timeIntervalSinceNow: 60)
        while !isTrue(received) {
            guard condition.wait(until: limit) else {
                fatalError("waited in vain for \(what); messages: \(received)", file: file, line: line)
            }
        }
        return received
    }

    func wait(for state: PlaybackState, file: StaticString = #file, line: UInt = #line) {
        waitUntil("\(state)", file: file, line: line) { $0.last(where: \.isState) == .playbackStateChanged(state) }
    }

    /// Returns when control has carried out everything that was asked of it before.
    func settle() {
        let done = DispatchSemaphore(value: 0)
        player.loop.post { done.signal() }
        done.wait()
    }
}

extension PlaybackMessage {
    var isState: Bool { if case .playbackStateChanged = self { true } else { false } }
}
