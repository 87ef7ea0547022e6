import Board
import BoardTestSupport
import Database
import Foundation
import Output
import OutputTestSupport
import PCM
import QueueTestSupport
import TestSupport
import Testing

@testable import Appliance
@testable import Platform
@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player

/// A daemon on its own loop, whose clock the test drives, with a real player on a paced card and a real state
/// folder. It can be ended and started again on the same state.
// @unchecked: `condition` guards the state that threads share; the rest belongs to the test's thread.
package final class DaemonFixture: @unchecked Sendable {
    package let card = PacedCard()
    package let clock = ManualClock(1_000_000_000_000)
    package let lines = DrivenLines()
    package let folder: String
    /// The volume when none is stored.
    package var firstVolume = Volume.full
    /// Replaces the opening of the file.
    package var openFile: LocalFiles.Opening?
    /// Replaces the files of this machine.
    package var source: (any PlaybackSource)?
    /// Makes the offline copies of a service, with the storage of a start; nil: without a service.
    package var makeOfflining: ((StorageThread) throws -> Offlining)?
    /// The tables of servers.
    package var servers: [SchemaModule] = []
    /// Called on the daemon's thread before its start.
    package var prepare: ((Daemon) -> Void)?
    /// The objects of one start.
    private struct Running {
        let player: Player
        let loop: EventLoop
        let thread: NamedThread
        /// Used on `loop` alone.
        let daemon: Daemon
        let storage: StorageThread
    }

    /// The objects of the current start; nil between an end and the next start.
    private var running: Running?
    package var player: Player { running!.player }
    package var storage: StorageThread { running!.storage }
    private var loop: EventLoop { running!.loop }
    private let condition = NSCondition()
    private let patience = Patience()
    // Guarded by `condition`.
    private var happened: [DaemonEvent] = []

    package init(folder: String) { self.folder = folder }

    /// Starts the daemon.
    /// - Parameters:
    ///   - text: of the configuration file.
    ///   - board: sections of a profile, after `[board]` and `[sound]`.
    package func start(_ text: String = "", board: String? = nil) throws {
        let configuration = try Configuration(parsing: Array(text.utf8), file: "tonearm.conf")
        let state = try ApplianceState(folder, servers: servers)
        // As in the program, except for settings that would depend on this machine.
        var settings = configuration.playerSettings(device: "paced", sound: nil)
        settings.storage = state.storage
        settings.firstVolume = firstVolume
        settings.realtimePriority = nil
        settings.offlining = try makeOfflining?(state.storage)
        let player = try Player(
            settings: settings, source: source ?? openFile.map { LocalFiles(openFile: $0) } ?? LocalFiles(),
            provider: card,
            clock: ManualClock(),
            newSessionID: { "session" }, startTimer: { LoopTimer($0) }, openMixer: { nil })
        let loop = try EventLoop(drivenBy: clock)
        let daemon = Daemon(
            loop: loop, player: player, configuration: configuration, state: state,
            defaultDevice: "paced",
            deviceAbsence: { [card] _ in card.isPresent ? nil : "no card" }, clock: clock)
        _ = daemon.observers.add { [self] event in
            condition.withLock {
                happened.append(event)
                condition.broadcast()
            }
        }
        let profile = try board.map {
            let text = "[board]\nname = test\nchip = c\n[sound]\ncard = HiFi\n" + $0
            return try BoardProfile(parsing: Array(text.utf8), path: "board.conf")
        }
        let thread = try NamedThread.start(name: "appliance") { loop.run() }
        running = Running(player: player, loop: loop, thread: thread, daemon: daemon, storage: settings.storage!)
        perform { [lines, prepare] daemon in
            prepare?(daemon)
            if let profile { daemon.attach(profile, lines: lines) }
            daemon.start()
        }
    }

    /// Ends it as SIGTERM does.
    package func end() {
        perform { $0.shutDown() }
        abandon()
    }

    /// Ends it without further writes, like a power cut: earlier writes stay.
    package func pullThePlug() throws {
        perform { _ in }
        let copy = folder + ".copy"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        perform { $0.shutDown() }
        abandon()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: copy, toPath: folder)
    }

    private func abandon() {
        guard let running else { return }
        running.player.shutDown()
        running.loop.stop()
        running.thread.joinOrEndRun()
        self.running = nil
    }

    /// Does something on the daemon's thread and returns when it is done.
    @discardableResult
    package func perform<Result, Failure>(_ body: @escaping (Daemon) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        let done = DispatchSemaphore(value: 0)
        // Safe: the loop uses both before it signals, and this thread after that.
        nonisolated(unsafe) var result: Swift.Result<Result, Failure>?
        nonisolated(unsafe) let body = body
        let daemon = running!.daemon
        loop.post {
            do throws(Failure) { result = .success(try body(daemon)) } catch { result = .failure(error) }
            done.signal()
        }
        done.waitOrEndRun("the daemon or the player")
        return try result!.get()
    }

    package var status: DaemonStatus { perform { $0.status } }
    package var events: [DaemonEvent] { condition.withLock { happened } }

    /// Returns when everything that has changed is on the medium.
    package func waitForWriting() {
        let done = DispatchSemaphore(value: 0)
        perform { $0.afterWriting { done.signal() } }
        done.waitOrEndRun("the daemon or the player")
        running?.storage.perform { done.signal() }
        done.waitOrEndRun("the daemon or the player")
    }

    /// Returns when the device matches the focus.
    package func waitForFocus() {
        let done = DispatchSemaphore(value: 0)
        perform { $0.focus.whenCarriedOut { done.signal() } }
        done.waitOrEndRun("the daemon or the player")
    }

    /// Returns when the engine has carried out everything that it was asked to do, and the daemon knows it.
    package func settle() {
        perform { _ in }
        let done = DispatchSemaphore(value: 0)
        player.loop.post { done.signal() }
        done.waitOrEndRun("the daemon or the player")
        perform { _ in }
    }

    /// Returns when the engine plays and the daemon knows it.
    package func waitForSound() {
        wait("sound") { [self] in $0.device != nil && player.playbackEngine.playbackState == .playing }
        settle()
    }

    /// Lets time pass for the daemon's timers.
    package func pass(seconds: Int64) { pass(milliseconds: 1000 * seconds) }

    package func pass(milliseconds: Int64) {
        clock.advance(by: milliseconds * 1_000_000)
        loop.clockAdvanced()
        perform { _ in }
    }

    /// How many timers of the daemon have run.
    package var timerCount: Int { perform { [loop] _ in loop.timerCount } }

    /// Plays on and returns when the engine knows it.
    package func play(_ frames: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let before = status.position
        card.play(frames, sourceLocation: sourceLocation)
        let position = before + Double(frames) / Double(Tracks.rate)
        card.waitUntil("the position", sourceLocation: sourceLocation) { _ in
            self.player.playbackEngine.assetPosition.map { abs($0 - position) < 0.0005 } ?? false
        }
    }

    /// Returns when the daemon is so.
    package func wait(
        _ what: String, sourceLocation: SourceLocation = #_sourceLocation,
        until isTrue: @escaping (DaemonStatus) -> Bool
    ) {
        let limit = patience.limit
        condition.lock()
        defer { condition.unlock() }
        while true {
            condition.unlock()
            let status = status
            condition.lock()
            if isTrue(status) { return }
            if Date() >= limit { return patience.end(what, sourceLocation, state: "\(status)") }
            // The engine's own thread may be faster than the daemon's: check again also without an event.
            _ = condition.wait(until: Date(timeIntervalSinceNow: 0.02))
        }
    }
}
