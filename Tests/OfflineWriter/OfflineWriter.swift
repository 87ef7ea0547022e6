import Database
import FileCalls
import Foundation
import Network
import OfflineTestSupport
import Platform

@testable import Player

/// Keeps a product in a process that a test can cut off:
///
///     OfflineWriter FOLDER FIRST SECOND CALL keep|lose
///
/// It ends at the file call with this number, from 0; `lose` loses what is not synced. It says on stdout what it has
/// been promised: `asked`, `kept FIRST`, `validated`, `serving SECOND`, `kept SECOND`, `deleting`, `deleted`.
///
/// The product 7 is FIRST, a FLAC file, which arrives with a restart in the middle. It is validated, then the service
/// has SECOND, and then it is deleted.
@main struct OfflineWriter {
    static func main() throws {
        let arguments = CommandLine.arguments
        let service = KeptService()
        service.serve([UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[2]))), as: "7", hash: "h1")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_900)
        if arguments[5] == "lose" { file_calls_lose_unsynced() }
        file_calls_cut(Int(arguments[4]) ?? -1)
        let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")

        service.hang(after: 150_000)
        try Run(arguments[1], service, at: 1_000_000) { engine, _ in
            guard engine.offline(product) else { exit(2) }
            say("asked")
            while service.hangingTransfers == 0 { sched_yield() }
        }
        service.hang(after: nil)
        try Run(arguments[1], service, at: 1_000_000) { engine, messages in
            messages.waitForDone()
            say("kept FIRST")
        }
        service.setDates(revalidateAt: 1_000_300, validUntil: 2_000_000)
        try Run(arguments[1], service, at: 1_000_200) { engine, _ in
            while validUntil(engine) != 2_000_000 { sched_yield() }
            say("validated")
        }
        say("serving SECOND")
        service.serve([UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[3]))), as: "7", hash: "h2")
        service.setDates(revalidateAt: 3_000_000, validUntil: 4_000_000)
        try Run(arguments[1], service, at: 1_000_400) { engine, messages in
            messages.waitForDone()
            say("kept SECOND")
            say("deleting")
            guard engine.deleteOffline(product) else { exit(3) }
            say("deleted")
        }
    }

    private static func validUntil(_ engine: OfflineEngine) -> Int64? {
        let answer = Answer<Int64?>()
        engine.items { entries, _ in answer.set(entries?.first?.validUntil) }
        return answer.wait()
    }

    private static func say(_ promise: String) {
        print(promise)
        fflush(nil)
    }
}

/// An offline engine without a player, from its start to its end.
private struct Run {
    @discardableResult
    init(
        _ folder: String, _ service: KeptService, at seconds: Int64, _ body: (OfflineEngine, Messages) throws -> Void
    ) throws {
        let time = ManualTime()
        time.seconds = seconds
        let storage = try StorageThread("\(folder)/tonearm.db", modules: [Player.schema, Offlining.schema])
        var settings = OfflineSettings(folder: "\(folder)/offline")
        settings.limits.freeBytes = 0
        let offlining = try Offlining(
            settings,
            OfflineService(
                network: service, settings: ServiceSettings(baseURL: "https://service"),
                credentials: StaticCredentials(token: "t")),
            evictCache: nil, storage: storage, clock: TrustedClock(store: nil, source: time), keyFolder: folder)
        let loop = try EventLoop()
        let configuration = OfflineEngineConfig(PlaybackEngineConfig(PlaybackEngineConfig.Values()))
        let conductor = OfflineConductor(offlining, loop: loop, configuration)
        let engine = OfflineEngine(loop: loop, conductor: conductor, configuration: configuration)
        let messages = Messages()
        engine.bus.subscribe { messages.append($0) }
        loop.post {
            conductor.start()
            conductor.linkChanged(to: .ethernet)
        }
        let thread = try NamedThread.start(name: "control") { loop.run() }
        try body(engine, messages)
        loop.post { conductor.shutDown() }
        loop.stop()
        thread.join()
        offlining.store.close()
    }
}

/// What the engine has told.
private final class Messages: @unchecked Sendable {
    private let condition = Condition()
    private var isDone = false

    func append(_ message: OfflineMessage) {
        if case .done = message { condition.update { isDone = true } }
    }

    func waitForDone() { condition.wait { isDone } }
}
