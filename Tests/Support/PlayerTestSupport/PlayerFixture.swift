import Foundation
import Output
import OutputTestSupport
import PCM
import Platform
import TestSupport
import Testing

@testable import Playback
@testable import Player

/// A player with a paced card, a clock that is driven by hand, and a log of its messages.
package final class PlayerFixture: Sendable {
    package let card = PacedCard()
    package let clock = ManualClock()
    package let log = MessageLog()
    package let player: Player
    private let timer: ManualStartTimer

    package init(
        source: any PlaybackSource = LocalFiles(), stateFolder: String? = nil, bufferMilliseconds: Int = 200,
        firstVolume: Volume = .full, mixer: (any HardwareVolume & Sendable)? = nil,
        change: (inout PlayerSettings) -> Void = { _ in }
    ) throws {
        var settings = PlayerSettings(output: RendererSettings(device: "paced"), stateFolder: stateFolder)
        settings.output.bufferMilliseconds = bufferMilliseconds
        settings.realtimePriority = nil
        settings.firstVolume = firstVolume
        change(&settings)
        let sessions = Recorder<Void>()
        let timer = ManualStartTimer(clock)
        self.timer = timer
        player = try Player(
            settings: settings, source: source, provider: card, clock: clock,
            newSessionID: {
                sessions.record(())
                return "session-\(sessions.elements.count)"
            },
            startTimer: { _ in timer }, openMixer: { mixer })
        if stateFolder == nil { player.playbackEngineConfig.loudnessNormalizationMode = .off }
        player.playbackEngine.bus.subscribe { [log] in log.append($0) }
    }

    deinit { player.shutDown() }

    package var engine: PlaybackEngine { player.playbackEngine }

    /// Loads a product, plays it, and returns when the device runs.
    /// - Parameters:
    ///   - next: the product after it.
    ///   - frames: the frames that are heard before it returns.
    package func play(
        _ product: MediaProduct, next: MediaProduct? = nil, hearing frames: Int = 0, file: StaticString = #filePath,
        line: UInt = #line
    ) throws {
        engine.load(product)
        if let next { engine.setNext(next) }
        engine.play()
        try wait(for: .playing, file: file, line: line)
        if frames > 0 { try hear(frames, file: file, line: line) }
    }

    // MARK: Messages

    /// All messages so far, as `MessageLog` writes them.
    package var messages: [String] { log.lines }

    package func wait(for state: PlaybackState, file: StaticString = #filePath, line: UInt = #line) throws {
        try log.wait("\(state)", file: file, line: line) { $0.last(where: \.isState) == .playbackStateChanged(state) }
    }

    /// Waits until as many transitions were made.
    package func wait(forTransitions count: Int, file: StaticString = #filePath, line: UInt = #line) throws {
        try log.wait("\(count) transitions", file: file, line: line) { $0.count(where: \.isTransition) >= count }
    }

    // MARK: Time

    /// Lets `nanoseconds` pass for the renderer and for the player's watch on starts.
    package func advance(by nanoseconds: Int64) {
        clock.advance(by: nanoseconds)
        onControl { [player, timer] in
            timer.clockAdvanced()
            player.renderer.nudge()
        }
    }

    /// Returns when control and renderer have carried out everything that was asked of them before.
    package func settle() {
        let renderer = player.renderer
        expectSoon("the renderer") { onControl { renderer.processedCommands == renderer.sentCommands } }
        // The renderer's events about it are fetched one a turn, at the start of the turn.
        onControl {}
    }

    /// Runs `body` on the control thread and waits for it.
    @discardableResult
    package func onControl<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        let result = Recorder<Result>()
        player.loop.post {
            result.record(body())
            done.signal()
        }
        done.waitOrEndRun("the control thread")
        return result.elements[0]
    }

    /// Waits until the position is `frame` of the product.
    package func wait(
        forFrame frame: Int, rate: Int = 8000, file: StaticString = #filePath, line: UInt = #line
    ) throws {
        let position = Int(Double(frame) / Double(rate) * 1e9)
        try spin("frame \(frame)", file: file, line: line) {
            self.engine.assetPosition.map { abs($0 * 1e9 - Double(position)) < 2 } ?? false
        }
    }

    /// Waits until the next product is opened and the renderer knows of it.
    package func waitForNext(file: StaticString = #filePath, line: UInt = #line) throws {
        try spin("the next product", file: file, line: line) {
            let value = self.engine.published.value
            return value.following != nil && value.following != value.stream
        }
        settle()
    }

    /// Plays tracks one after another, each one set as next as soon as the one before is heard.
    package func play(_ products: [(product: MediaProduct, frames: Int)]) throws {
        engine.load(products[0].product)
        engine.play()
        for (index, (_, frames)) in products.enumerated() {
            try wait(forTransitions: index + 1)
            if index + 1 < products.count {
                engine.setNext(products[index + 1].product)
                try waitForNext()
            }
            // The first frame of each but the first has been played to have its transition.
            try hear(index == 0 ? frames : frames - 1)
            if index + 1 < products.count { try hear(1) }
        }
        try wait(for: .idle)
    }

    /// Lets the card play `frames` more frames and waits until they were heard.
    package func hear(_ frames: Int, file: StaticString = #filePath, line: UInt = #line) throws {
        let target = card.allow(frames)
        try spin("\(frames) frames to be heard", file: file, line: line) { self.card.heardFrames >= target }
    }

    /// Waits until the renderer has tried to open the device this often, and has handled the result.
    package func wait(forOpenings count: Int, file: StaticString = #filePath, line: UInt = #line) throws {
        try spin("\(count) openings", file: file, line: line) { self.card.openingCount == count }
        advance(by: 0)
        settle()
    }

    /// Waits until so many frames are in the device: 1600 fill it at 8 kHz.
    package func wait(forPending frames: Int, file: StaticString = #filePath, line: UInt = #line) throws {
        try spin("\(frames) frames in the device", file: file, line: line) { self.card.pendingFrames == frames }
    }

    /// Waits for a change without a message.
    package func spin(
        _ what: String, file: StaticString = #filePath, line: UInt = #line, until isTrue: () -> Bool
    ) throws {
        try WaitedInVain.spin(what, log.lines, file, line, until: isTrue)
    }
}

/// Fires when the test moves its clock.
// @unchecked: only control uses the mutable state.
package final class ManualStartTimer: StartTimer, @unchecked Sendable {
    private let clock: ManualClock
    // Control's alone.
    private var deadline: Int64 = 0
    private var action: (() -> Void)?

    package init(_ clock: ManualClock) { self.clock = clock }

    package func start(after nanoseconds: Int64, _ action: @escaping () -> Void) {
        deadline = clock.now() + nanoseconds
        self.action = action
    }

    package func cancel() { action = nil }

    package func clockAdvanced() {
        guard clock.now() >= deadline, let action else { return }
        self.action = nil
        action()
    }
}

/// A wait of a test had no result.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, _ messages: [String], _ file: StaticString, _ line: UInt) {
        description = "\(file):\(line): timeout: \(what); messages: \(messages)"
    }

    /// Waits for a change without a message.
    package static func spin(
        _ what: String, _ messages: @autoclosure () -> [String], _ file: StaticString, _ line: UInt,
        until isTrue: () -> Bool
    ) throws {
        let deadline = Deadline()
        while !isTrue() {
            guard !deadline.hasPassed else { throw WaitedInVain(what, messages(), file, line) }
            Deadline.pause()
        }
    }
}
