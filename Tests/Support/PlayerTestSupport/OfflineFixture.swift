import Database
import Events
import Foundation
import Media
import Network
import OfflineTestSupport
import Platform
import TestSupport

@testable import Account
@testable import Fetching
@testable import Offline
@testable import Playback
@testable import Player
@testable import Streaming

/// A player with an offline engine on real files and a real database, and a service that a test drives.
// @unchecked: nothing changes after `init`, and its parts are for any thread.
package final class OfflineFixture: @unchecked Sendable {
    package let folder: ScratchFolder
    package let service: OfflineTestService
    package let time = ManualTime()
    /// The clock of the waits for retries.
    package let retryClock = ManualClock()
    package let log = OfflineLog()
    package let fixture: PlayerFixture
    package let store: OfflineStore
    private let source: OfflineSource

    /// - Parameters:
    ///   - folder: with the state of an earlier one, or empty.
    ///   - network: that of another service than `service`.
    ///   - link: nil: none was reported.
    ///   - cache: nil: there is no streaming cache.
    package init(
        in folder: ScratchFolder? = nil, _ service: OfflineTestService = OfflineTestService(),
        network: (any ServiceNetwork)? = nil, link: Link? = Link(.ethernet),
        now: Int64? = 1_000_000, cache: CountedCache? = nil, isOfflineMode: Bool = false,
        isLinked: Locked<Bool> = Locked(true), events: EventSettings? = nil,
        sender: (any EventSender)? = nil,
        change: (inout OfflineSettings) -> Void = { _ in }
    ) throws {
        let folder = try folder ?? ScratchFolder()
        self.folder = folder
        self.service = service
        time.seconds = now
        let storage = try StorageThread(
            folder["tonearm.db"], modules: [Player.schema, Offlining.schema, EventSettings.schema])
        let clock = TrustedClock(store: nil, source: time)
        var settings = OfflineSettings(folder: folder["offline"])
        settings.limits.freeBytes = 0
        change(&settings)
        let content = ServiceSettings(baseURL: "https://service")
        let credentials = StaticCredentials(token: "t")
        let network = network ?? service
        var evictCache: OfflineSpace.CacheEviction?
        if let cache { evictCache = { cache.evict($0) } }
        let offlining = try Offlining(
            settings,
            OfflineService(network: network, settings: content, credentials: credentials, clock: retryClock),
            evictCache: evictCache, storage: storage, clock: clock, keyFolder: folder.path)
        store = offlining.store
        source = offlining.source
        let mode = OfflineMode()
        mode.isOn = isOfflineMode
        let router = SourceRouter(
            service: ContentService(content, over: network, credentials: credentials), copies: offlining.source,
            offlineMode: mode, isLinked: { isLinked.value })
        fixture = try PlayerFixture(source: router) {
            $0.storage = storage
            $0.offlining = offlining
            $0.offlineMode = mode
            $0.events = events
            $0.eventSender = sender
        }
        fixture.player.playbackEngineConfig.loudnessNormalizationMode = .off
        engine.bus.subscribe { [log] in log.append($0) }
        if let link { fixture.player.linkChanged(to: link) }
    }

    package var player: Player { fixture.player }
    package var engine: OfflineEngine { fixture.player.offlineEngine! }

    package static func product(_ id: Int, reference: String? = nil) -> MediaProduct {
        MediaProduct(productType: .track, productId: "tonearm:track/\(id)", referenceId: reference ?? "r\(id)")
    }

    /// Downloads a product and waits for it.
    package func keep(_ id: Int) throws {
        guard engine.offline(Self.product(id)) else { throw CocoaError(.fileWriteUnknown) }
        try wait(for: "done r\(id)")
    }

    /// Asks for a product, and waits until `percent` of it have arrived and the transfer hangs there.
    /// - Returns: how many bytes that are.
    @discardableResult
    package func downloadPart(of id: Int = 7, _ file: [UInt8], percent: Int) throws -> Int {
        // The first byte count that makes this percentage: its message comes when all of these bytes are written.
        let count = (file.count * percent + 99) / 100
        service.hang(after: count)
        guard engine.offline(Self.product(id)) else { throw CocoaError(.fileWriteUnknown) }
        try spin("the transfer") { service.hangingTransfers == 1 }
        try wait(for: "\(percent) r\(id)")
        service.hang(after: nil)
        return count
    }

    /// The decoder of an offline copy.
    package func open(_ id: Int) throws -> any AudioDecoder {
        let opened = try source.open(
            Self.product(id), cancellation: try Cancellation(), medium: MediumAccess(), otherwise: nil)
        guard let opened else { throw CocoaError(.fileNoSuchFile) }
        return opened.decoder
    }

    /// Plays a product.
    /// - Returns: so many frames of it as the card got them.
    package func played(_ frames: Int, of id: Int = 7) throws -> [Int32] { try played(frames, Self.product(id)) }

    package func played(_ frames: Int, _ product: MediaProduct) throws -> [Int32] {
        let before = fixture.heardSamples.count
        fixture.engine.load(product)
        fixture.engine.play()
        try fixture.hear(frames)
        return Array(fixture.heardSamples.dropFirst(before))
    }

    package func wait(for line: String, file: StaticString = #filePath, sourceLine: UInt = #line) throws {
        try log.wait(for: line, file: file, line: sourceLine)
    }

    /// Waits for a change without a message.
    package func spin(_ what: String, until isTrue: () -> Bool) throws { try fixture.spin(what, until: isTrue) }

    /// The files of the offline copies.
    package var files: [String] {
        let found = FileManager.default.enumerator(atPath: folder["offline"])?.allObjects as? [String] ?? []
        return found.filter { $0.contains("/") }.sorted()
    }

    package func entries() -> [OfflineEntry] { engine.entries() }

    /// The reason why all downloads wait.
    package func wait() -> OfflineWait? {
        let answer = AwaitedValue<OfflineWait?>()
        engine.status { answer.set($0?.wait) }
        return answer.wait()
    }

    /// How many offline copies are lost with the device's key.
    package func lostCount() -> Int {
        let answer = AwaitedValue<Int>()
        engine.status { answer.set($0?.lostCount ?? -1) }
        return answer.wait()
    }

    package func status(of id: Int) -> OfflineEntry.Status? {
        entries().first { $0.product == "tonearm:track/\(id)" }?.status
    }

    /// Why the storage folder does not match the database.
    package func folderProblem() -> String? { engine.folderProblem() }

    /// The result of a verification.
    package func verify(_ id: Int) -> OfflineVerification { engine.verification(of: id) }
}

extension OfflineEngine {
    package func folderProblem() -> String? {
        let answer = AwaitedValue<String?>()
        status { answer.set($0?.folderProblem) }
        return answer.wait()
    }

    package func verification(of id: Int) -> OfflineVerification {
        let answer = AwaitedValue<OfflineVerification>()
        verify(OfflineFixture.product(id)) { answer.set($0) }
        return answer.wait()
    }

    /// Downloads and offline copies, the first hundred of each.
    package func entries() -> [OfflineEntry] {
        let all = Recorder<[OfflineEntry]>()
        let done = DispatchSemaphore(value: 0)
        downloads { [self] downloads, _ in
            items { items, _ in
                all.record((downloads ?? []) + (items ?? []))
                done.signal()
            }
        }
        done.waitOrEndRun("the offline engine")
        return all.elements[0]
    }
}

/// The messages of an offline engine in their order, as lines: "started r1", "25 r1", "done r1", "failed m3 r1",
/// "deleted r1", "all deleted", "lost 1".
// @unchecked: `condition` guards the mutable state.
package final class OfflineLog: @unchecked Sendable {
    private let condition = NSCondition()
    private var received: [OfflineMessage] = []

    package init() {}

    package func append(_ message: OfflineMessage) {
        condition.withLock {
            received.append(message)
            condition.broadcast()
        }
    }

    package var messages: [OfflineMessage] { condition.withLock { received } }
    package var lines: [String] { messages.map { $0.line } }

    /// The lines without the percents.
    package var events: [String] { lines.filter { !$0.first!.isNumber } }
    /// The error of the last failure; nil without one.
    package var failure: PlayerError? {
        for message in messages.reversed() { if case .failed(_, let error) = message { return error } }
        return nil
    }

    package func wait(
        for line: String, count: Int = 1, file: StaticString = #filePath, line place: UInt = #line
    ) throws {
        condition.lock()
        defer { condition.unlock() }
        let limit = Deadline().date
        while received.count(where: { $0.line == line }) < count {
            guard condition.wait(until: limit) else { throw WaitedInVain(line, received.map { $0.line }, file, place) }
        }
    }
}

extension OfflineMessage {
    package var line: String {
        switch self {
        case .started(let reference): "started \(reference)"
        case .progress(let reference, let percent): "\(percent) \(reference)"
        case .done(let reference): "done \(reference)"
        case .failed(let reference, let error): "failed \(error.code) \(reference)"
        case .deleted(let reference): "deleted \(reference)"
        case .allDeleted: "all deleted"
        case .cancelled(let reference): "cancelled \(reference)"
        case .allCancelled: "all cancelled"
        case .keyLost(let count): "lost \(count)"
        }
    }
}

/// A streaming cache that has so many responses to remove.
// @unchecked: `lock` guards the mutable state.
package final class CountedCache: @unchecked Sendable {
    private let lock = NSLock()
    private var left: Int
    private let removed: @Sendable () -> Void

    package init(responses: Int, removed: @escaping @Sendable () -> Void = {}) {
        left = responses
        self.removed = removed
    }

    package var isEmpty: Bool { lock.withLock { left == 0 } }

    package func evict(_ answer: @escaping @Sendable (Bool) -> Void) {
        let hadAny = lock.withLock {
            guard left > 0 else { return false }
            left -= 1
            return true
        }
        if hadAny { removed() }
        answer(hadAny)
    }
}

extension PlayerFixture {
    /// All that the card has played.
    package var heardSamples: [Int32] { card.recordings.flatMap { $0.samples } }
}
