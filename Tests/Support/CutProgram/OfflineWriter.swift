import Account
import Database
import FileCalls
import Foundation
import Network
import Offline
import OfflineTestSupport
import Platform
import Playback
import Player

/// Downloads a product for offline use in a process that a test can cut off:
///
///     CutProgram offline FOLDER FIRST SECOND download|validation|replacement|deletion STOP CALL keep|lose
///
/// It ends at the file call with this number, from 0, among those of the scenario. `lose` also loses data that is not
/// synced. On stdout it prints the promises that it received: `asked`, `kept FIRST`, `validated`, `serving SECOND`,
/// `kept SECOND`, `deleting`, `deleted`. At its end it prints `calls` with the number of the scenario's file calls.
///
/// - download: of FIRST, a FLAC file, as the product 7; after STOP bytes the engine is restarted.
/// - validation: of the offline copy, with the same content.
/// - replacement: a validation finds that the service has SECOND; it is downloaded as FIRST was.
/// - deletion: while SECOND, which is partly there, is being downloaded beside FIRST.
enum OfflineWriter {
    static func run(_ words: [String]) throws {
        if words[6] == "lose" { file_calls_lose_unsynced() }
        let call = Int(words[5]) ?? -1
        let scenarios = Scenarios(
            folder: words[0], first: [UInt8](try Data(contentsOf: URL(fileURLWithPath: words[1]))),
            second: [UInt8](try Data(contentsOf: URL(fileURLWithPath: words[2]))), stop: Int(words[4]) ?? 0)
        switch words[3] {
        case "download":
            file_calls_cut(call)
            try scenarios.download()
        case "validation":
            try scenarios.download()
            file_calls_cut(call)
            try scenarios.validate()
        case "replacement":
            try scenarios.download()
            file_calls_cut(call)
            try scenarios.replace()
        case "deletion":
            try scenarios.download()
            try scenarios.replacePart()
            file_calls_cut(call)
            try scenarios.delete()
        default: exit(4)
        }
        CutProgram.say("calls \(file_calls_count())")
    }
}

private struct Scenarios {
    let folder: String
    let first: [UInt8]
    let second: [UInt8]
    /// The number of bytes after which a download is interrupted.
    let stop: Int
    private let service = OfflineTestService()
    private let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

    init(folder: String, first: [UInt8], second: [UInt8], stop: Int) {
        (self.folder, self.first, self.second, self.stop) = (folder, first, second, stop)
    }

    func download() throws {
        service.serve(first, as: "7", hash: "h1")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_900)
        service.hang(after: stop)
        try Run(folder, service, at: 1_000_000) { engine, _ in
            guard engine.offline(product) else { exit(2) }
            CutProgram.say("asked")
            waitForTransfer()
        }
        service.hang(after: nil)
        try Run(folder, service, at: 1_000_000) { _, messages in
            messages.waitForDone()
            CutProgram.say("kept FIRST")
        }
    }

    func validate() throws {
        service.setDates(revalidateAt: 1_000_300, validUntil: 2_000_000)
        try Run(folder, service, at: 1_000_200) { engine, _ in
            while validUntil(engine) != 2_000_000 { sched_yield() }
            CutProgram.say("validated")
        }
    }

    func replacePart() throws {
        CutProgram.say("serving SECOND")
        service.serve(second, as: "7", hash: "h2")
        service.setDates(revalidateAt: 3_000_000, validUntil: 4_000_000)
        service.hang(after: stop)
        try Run(folder, service, at: 1_000_400) { _, _ in waitForTransfer() }
        service.hang(after: nil)
    }

    func replace() throws {
        try replacePart()
        try Run(folder, service, at: 1_000_400) { _, messages in
            messages.waitForDone()
            CutProgram.say("kept SECOND")
        }
    }

    func delete() throws {
        // Fewer bytes than are missing: the download is running when it is deleted.
        service.hang(after: 5000)
        try Run(folder, service, at: 1_000_400) { engine, _ in
            waitForTransfer()
            CutProgram.say("deleting")
            guard engine.deleteOffline(product) else { exit(3) }
            CutProgram.say("deleted")
        }
    }

    private func waitForTransfer() {
        while service.hangingTransfers == 0 { sched_yield() }
    }

    private func validUntil(_ engine: OfflineEngine) -> Int64? {
        let answer = FutureValue<Int64?>()
        engine.items { entries, _ in answer.set(entries?.first?.validUntil) }
        return answer.wait()
    }
}

/// An offline engine without a player, from its start to its end.
private struct Run {
    @discardableResult
    init(
        _ folder: String, _ service: OfflineTestService, at seconds: Int64,
        _ body: (OfflineEngine, Messages) throws -> Void
    ) throws {
        let time = ManualTime()
        time.seconds = seconds
        let storage = try StorageThread("\(folder)/tonearm.db", modules: [Player.schema, Offlining.schema])
        var settings = OfflineSettings(folder: "\(folder)/offline")
        settings.limits.freeBytes = 0
        // A run with about 200 KB records some while bytes arrive, and one at its end.
        settings.recordInterval = 96 << 10
        let offlining = try Offlining(
            settings,
            OfflineService(
                network: service, settings: ServiceSettings(baseURL: "https://service"),
                credentials: StaticCredentials(token: "t")),
            evictCache: nil, storage: storage, clock: TrustedClock(store: nil, source: time), keyFolder: folder)
        let loop = try EventLoop()
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        let conductor = OfflineConductor(offlining, loop: loop, configuration)
        let engine = OfflineEngine(loop: loop, offlining, conductor: conductor, configuration: configuration)
        let messages = Messages()
        engine.bus.subscribe { messages.append($0) }
        loop.post {
            conductor.start()
            conductor.linkChanged(to: Link(.ethernet))
        }
        let thread = try NamedThread.start(name: "control") { loop.run() }
        try body(engine, messages)
        loop.post { conductor.shutDown() }
        loop.stop()
        thread.join()
        conductor.close()
    }
}

/// The messages of the engine.
// @unchecked: `condition` guards the mutable state.
private final class Messages: @unchecked Sendable {
    private let condition = Condition()
    private var isDone = false

    func append(_ message: OfflineMessage) {
        if case .done = message { condition.update { isDone = true } }
    }

    func waitForDone() { condition.wait { isDone } }
}
