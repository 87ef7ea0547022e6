import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport

@testable import Account
@testable import Offline
@testable import Playback
@testable import Player

/// An offline engine without a player, whose timers pass when a test moves its clock.
// @unchecked: nothing changes after `init`; the conductor is used on its loop.
final class DrivenOffline: @unchecked Sendable {
    /// The clock of the timers.
    let clock = ManualClock()
    /// The trusted time.
    let time = ManualTime()
    let log = OfflineLog()
    let engine: OfflineEngine
    private let folder: ScratchFolder
    private let offlining: Offlining
    private let loop: EventLoop
    private let thread: NamedThread
    private let conductor: OfflineConductor

    /// - Parameter folder: with the state of an earlier one, or empty.
    /// - Parameters:
    ///   - systemClock: by the system's clock, which is not synchronised; nil: it is unknown.
    ///   - record: the time of an earlier one; nil: no time was proved.
    ///   - link: at the start.
    init(
        in folder: ScratchFolder, _ service: OfflineTestService, now: Int64?, systemClock: Int64? = nil,
        record: TrustedTime.Record? = nil,
        link: Link.Kind = .ethernet, change: (inout OfflineSettings) -> Void = { _ in }
    ) throws {
        time.seconds = now
        time.unprovedSeconds = systemClock
        let storage = try StorageThread(folder["tonearm.db"], modules: [Player.schema, Offlining.schema])
        var settings = OfflineSettings(folder: folder["offline"])
        settings.limits.freeBytes = 0
        change(&settings)
        let content = OfflineService(
            network: service, settings: ServiceSettings(baseURL: "https://service"),
            credentials: StaticCredentials(token: "t"), clock: clock)
        let offlining = try Offlining(
            settings, content, evictCache: nil, storage: storage,
            clock: TrustedClock(store: record.map { RecordedTime($0) }, source: time),
            keyFolder: folder.path)
        let loop = try EventLoop(drivenBy: clock)
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        let conductor = OfflineConductor(offlining, loop: loop, configuration)
        self.folder = folder
        self.offlining = offlining
        self.loop = loop
        self.conductor = conductor
        engine = OfflineEngine(loop: loop, offlining, conductor: conductor, configuration: configuration)
        thread = try NamedThread.start(name: "driven") { loop.run() }
        engine.bus.subscribe { [log] in log.append($0) }
        onControl { conductor in
            conductor.start()
            conductor.linkChanged(to: Link(link))
        }
        // First the check of the folder, and then the downloads whose turn it is.
        answerReads()
        answerReads()
    }

    deinit {
        loop.post { [conductor] in conductor.shutDown() }
        loop.stop()
        thread.joinOrEndRun()
        offlining.store.close()
    }

    /// Runs `work` on the control thread and waits for it.
    func onControl(_ work: @escaping @Sendable (OfflineConductor) -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.post { [conductor] in
            work(conductor)
            done.signal()
        }
        done.waitOrEndRun("the control thread")
    }

    /// The next threads are refused with an error of the system.
    /// - Returns: how many threads were asked for since.
    func refuseThreads(_ count: Int, _ code: Int32) -> Locked<Int> {
        let attempts = Locked(0)
        onControl { conductor in
            conductor.threads.start = { (name, body) throws(SystemError) in
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                if attempt <= count { throw SystemError(code: code, operation: "pthread_create") }
                return try CancellableThread(name, body)
            }
        }
        return attempts
    }

    /// Lets time pass for the timers, and waits until control has handled those that are due.
    func advance(by nanoseconds: Int64) {
        clock.advance(by: nanoseconds)
        loop.clockAdvanced()
        onControl { _ in }
    }

    /// Waits until control has handled the answers to all that it has asked of the database.
    func answerReads() {
        _ = offlining.store.waitToRead { (rows) throws(DatabaseError) -> Int in try rows.itemCount() }
        onControl { _ in }
    }

    /// Waits for a change without a message.
    func spin(
        _ what: String, file: StaticString = #filePath, line: UInt = #line, until isTrue: () -> Bool
    ) throws {
        try WaitedInVain.spin(what, log.lines, file, line, until: isTrue)
    }

    /// Downloads a product and waits for it.
    func keep(_ id: Int) throws {
        guard engine.offline(OfflineFixture.product(id)) else { throw Unexpected("no download for \(id)") }
        try log.wait(for: "done r\(id)")
    }

    /// The samples of an offline copy.
    func decoded(_ id: Int) throws -> [Int32] {
        let opened = try offlining.source.open(
            OfflineFixture.product(id), cancellation: try Cancellation(), medium: MediumAccess(), otherwise: nil)
        guard let opened else { throw Unexpected("\(id) has no offline copy") }
        return try opened.decoder.decodeRest().samples
    }

    /// The reason why all downloads wait.
    func wait() -> OfflineWait? {
        let answer = AwaitedValue<OfflineWait?>()
        engine.status { answer.set($0?.wait) }
        return answer.wait()
    }

    /// Why downloads wait for the service.
    func serviceProblem() -> String? {
        let answer = AwaitedValue<String?>()
        engine.status { answer.set($0?.serviceProblem) }
        return answer.wait()
    }

    var store: OfflineStore { offlining.store }

    func entries() -> [OfflineEntry] { engine.entries() }

    func status(of id: Int) -> OfflineEntry.Status? {
        entries().first { $0.product == "tonearm:track/\(id)" }?.status
    }
}

/// A time that an earlier start has stored.
private final class RecordedTime: TrustedTimeStore {
    private let record: TrustedTime.Record

    init(_ record: TrustedTime.Record) { self.record = record }

    func load() -> TrustedTime.Record? { record }

    func save(_: TrustedTime.Record) {}
}
