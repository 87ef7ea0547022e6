import Foundation
import Output
import OutputTestSupport
import Platform
import Queue
import TestSupport
import Testing

@testable import Fetching
@testable import Playback
@testable import Player

/// A conductor on its own loop, with a real player, a paced card, and a log of all events.
// @unchecked: `condition` guards the state that threads share; only `init` writes the rest.
package final class ConductorFixture: @unchecked Sendable {
    package let card = PacedCard()
    package let player: Player
    package let loop: EventLoop
    private let thread: NamedThread
    /// Used on `loop` alone.
    private let conductor: QueueConductor
    private let condition = NSCondition()
    private let patience = Patience()
    // Guarded by `condition`.
    private var happened: [QueueMessage] = []
    private var received: [PlaybackMessage] = []

    package init(_ queue: PlayQueue = PlayQueue()) throws {
        let lastSession = Recorder<Int>()
        var settings = PlayerSettings(output: RendererSettings(device: "paced"))
        settings.firstVolume = .full
        player = try Player(
            settings: settings, source: LocalFiles(), provider: card,
            clock: ManualClock(),
            newSessionID: {
                lastSession.record(0)
                return "session-\(lastSession.elements.count)"
            },
            startTimer: { LoopTimer($0) }, openMixer: { nil })
        player.playbackEngineConfig.loudnessNormalizationMode = .off
        let loop = try EventLoop()
        self.loop = loop
        let conductor = QueueConductor(engine: player.playbackEngine, loop: loop, queue: queue)
        self.conductor = conductor
        thread = try NamedThread.start(name: "appliance") { loop.run() }
        player.playbackEngine.bus.subscribe { [self] message in
            condition.withLock {
                received.append(message)
                condition.broadcast()
            }
        }
        perform {
            $0.observe = { [self] event in
                condition.withLock {
                    happened.append(event)
                    condition.broadcast()
                }
            }
        }
    }

    /// Ends all threads; the fixture is of no use afterwards.
    package func shutDown() {
        perform { $0.shutDown() }
        player.shutDown()
        loop.stop()
        thread.joinOrEndRun()
    }

    /// Does something on the conductor's thread and returns when it is done.
    @discardableResult
    package func perform<Result>(_ body: @escaping (QueueConductor) -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        // Safe: the loop uses both before it signals, and this thread after that.
        nonisolated(unsafe) var result: Result?
        nonisolated(unsafe) let body = body
        loop.post { [self] in
            result = body(conductor)
            done.signal()
        }
        done.waitOrEndRun("the conductor or the player")
        return result!
    }

    /// Changes the queue and has the engine follow.
    package func edit(_ change: @escaping (inout PlayQueue) throws(PlayQueueError) -> Void) {
        perform { conductor in try! conductor.edit(change) }
    }

    /// Returns when the engine has carried out everything that it was asked to do, and the conductor knows it.
    package func settle() {
        perform { _ in }
        let done = DispatchSemaphore(value: 0)
        player.loop.post { done.signal() }
        done.waitOrEndRun("the conductor or the player")
        perform { _ in }
    }

    package var events: [QueueMessage] { condition.withLock { happened } }
    package var failedEntries: [EntryID] {
        events.compactMap { if case .failed(let entry, _) = $0 { entry } else { nil } }
    }

    /// Returns when `isTrue` of all that the conductor has reported.
    package func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, until isTrue: ([QueueMessage]) -> Bool
    ) {
        wait(what, sourceLocation) { isTrue(happened) }
    }

    /// Returns when `isTrue` of all that the engine has reported, whether the conductor knows it or not.
    package func waitForEngine(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation,
        until isTrue: ([PlaybackMessage]) -> Bool
    ) {
        wait(what, sourceLocation) { isTrue(received) }
    }

    private func wait(_ what: String, _ sourceLocation: SourceLocation, until isTrue: () -> Bool) {
        condition.lock()
        defer { condition.unlock() }
        let limit = patience.limit
        while !isTrue() {
            if !condition.wait(until: limit) {
                return patience.end(what, sourceLocation, state: "\(happened), \(received)")
            }
        }
    }

    /// Plays more frames, and returns when the engine knows the position. The audio thread publishes the position a
    /// moment after the frame was heard.
    package func play(_ frames: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        card.play(frames, sourceLocation: sourceLocation)
        let position = Double(card.heardFrames) / Double(Tracks.rate)
        card.waitUntil("the position", sourceLocation: sourceLocation) { _ in
            self.player.playbackEngine.assetPosition == position
        }
    }

    package func waitForEnd(sourceLocation: SourceLocation = #_sourceLocation) {
        wait("the end", sourceLocation: sourceLocation) { $0.contains(.ended) }
    }
}
