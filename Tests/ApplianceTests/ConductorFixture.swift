import Foundation
import Output
import OutputTestSupport
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Player

/// A conductor on its own loop, with a real player, a paced card, and a log of all events.
// @unchecked: `condition` guards the state that threads share; only `init` writes the rest.
final class ConductorFixture: @unchecked Sendable {
    let card = PacedCard()
    let player: Player
    let loop: EventLoop
    private let thread: NamedThread
    /// Used on `loop` alone.
    private let conductor: QueueConductor
    private let condition = NSCondition()
    private let patience = Patience()
    // Guarded by `condition`.
    private var happened: [QueueMessage] = []
    private var received: [PlaybackMessage] = []

    init(_ queue: PlayQueue = PlayQueue()) throws {
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
    func shutDown() {
        perform { $0.shutDown() }
        player.shutDown()
        loop.stop()
        thread.joinOrEndRun()
    }

    /// Does something on the conductor's thread and returns when it is done.
    @discardableResult
    func perform<Result>(_ body: @escaping (QueueConductor) -> Result) -> Result {
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
    func edit(_ change: @escaping (inout PlayQueue) throws(PlayQueueError) -> Void) {
        perform { conductor in try! conductor.edit(change) }
    }

    /// Returns when the engine has carried out everything that it was asked to do, and the conductor knows it.
    func settle() {
        perform { _ in }
        let done = DispatchSemaphore(value: 0)
        player.loop.post { done.signal() }
        done.waitOrEndRun("the conductor or the player")
        perform { _ in }
    }

    var events: [QueueMessage] { condition.withLock { happened } }
    var failedEntries: [EntryID] { events.compactMap { if case .failed(let entry, _) = $0 { entry } else { nil } } }

    /// Returns when `isTrue` of all that the conductor has reported.
    func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation, until isTrue: ([QueueMessage]) -> Bool
    ) {
        wait(what, sourceLocation) { isTrue(happened) }
    }

    /// Returns when `isTrue` of all that the engine has reported, whether the conductor knows it or not.
    func waitForEngine(
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
    func play(_ frames: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        card.play(frames, sourceLocation: sourceLocation)
        let position = Double(card.heardFrames) / Double(Tracks.rate)
        card.waitUntil("the position", sourceLocation: sourceLocation) { _ in
            self.player.playbackEngine.assetPosition == position
        }
    }

    func waitForEnd(sourceLocation: SourceLocation = #_sourceLocation) {
        wait("the end", sourceLocation: sourceLocation) { $0.contains(.ended) }
    }
}

/// Files, of 1 kHz unless another rate is given. Every frame identifies itself: the left channel is the track's letter,
/// the right one the frame's number.
final class Tracks {
    static let rate = 1000
    let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    /// Tracks of equal length, up to 65,536 frames, for the letters of a word. An upper-case letter is a file that is
    /// no music, `?` one that does not exist.
    func make(_ word: String, frames: Int, rate: Int = rate) throws -> [QueuedProduct] {
        try word.map { letter in
            let path = folder["\(letter == "?" ? "missing" : String(letter)).flac"]
            if letter.isUppercase {
                try Data("this is no music at all".utf8).write(to: URL(fileURLWithPath: path))
            } else if letter != "?" {
                try encode(letter, frames: frames, rate: rate, to: path)
            }
            return QueuedProduct(.track, path)
        }
    }

    private func encode(_ letter: Character, frames: Int, rate: Int, to path: String) throws {
        let samples = (0..<frames).flatMap { [UInt16(letter.asciiValue!), UInt16($0)] }
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path + ".raw"))
        _ = try TestProcess.run(
            "/usr/bin/flac",
            [
                "-s", "-f", "--force-raw-format", "--endian=little", "--sign=signed", "--channels=2", "--bps=16",
                "--sample-rate=\(rate)", "-o", path, path + ".raw",
            ])
    }
}

extension PacedCard {
    /// The frames that were heard over all openings of the device. `a0-4000 b100-200` means the first track from the
    /// beginning up to frame 4000, then the second one from frame 100 up to 200.
    var heard: String {
        var runs: [(letter: UInt16, start: Int, end: Int)] = []
        let samples = recordings.flatMap(\.samples).map { UInt16(truncatingIfNeeded: $0 >> 16) }
        for index in stride(from: 0, to: samples.count, by: 2) {
            let (letter, frame) = (samples[index], Int(samples[index + 1]))
            if let last = runs.last, last.letter == letter, last.end == frame {
                runs[runs.count - 1].end += 1
            } else {
                runs.append((letter, frame, frame + 1))
            }
        }
        return runs.map { "\(Character(UnicodeScalar($0.letter)!))\($0.start)-\($0.end)" }.joined(separator: " ")
    }

    /// The first frame of each run of sound: `a0 b100`.
    var beginnings: String {
        heard.split(separator: " ").map { $0.prefix { $0 != "-" } }.joined(separator: " ")
    }

    /// Continues until this has been heard. Frames of the earlier entry may be heard before it.
    func play(until expected: String) -> Bool {
        for _ in 0..<100 {
            if beginnings == expected { return true }
            play(100)
        }
        return false
    }
}

/// The expected sound of the tracks of this word, played to the end.
func sound(_ word: String, frames: Int = 4000) -> String { word.map { "\($0)0-\(frames)" }.joined(separator: " ") }
