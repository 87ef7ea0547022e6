import ApplianceTestSupport
import Database
import Foundation
import Platform
import TestSupport
import Testing

@testable import Appliance
@testable import Control
@testable import Offline
@testable import Playback
@testable import Player

@Suite("Requests about offline copies (docs/control.md, \"Offline copies\")")
struct DownloadRequestTests {
    private func request(_ line: String) -> Result<RemoteRequest, RequestMistake> {
        RequestLine(.whole(Array(line.utf8))).request
    }

    @Test(
        "Lines and what they ask for",
        arguments: [
            (
                #"{"id":1,"request":"offline-add","products":[{"path":"tonearm:track/7"}]}"#,
                DownloadRequest.add(["tonearm:track/7"], priority: 0)
            ),
            (
                #"{"id":1,"request":"offline-add","products":[{"path":"tonearm:track/7"}],"priority":-3}"#,
                .add(["tonearm:track/7"], priority: -3)
            ),
            (#"{"id":1,"request":"offline-remove","all":true}"#, .remove(nil)),
            (#"{"id":1,"request":"offline-cancel","all":true}"#, .cancel(nil)),
            (
                #"{"id":1,"request":"offline-cancel","products":[{"path":"tonearm:track/7"}]}"#,
                .cancel(["tonearm:track/7"])
            ),
            (
                #"{"id":1,"request":"offline-pause","products":[{"path":"tonearm:track/7"}]}"#,
                .pause(["tonearm:track/7"])
            ),
            (#"{"id":1,"request":"offline-resume","all":true}"#, .resume(nil)),
            (#"{"id":1,"request":"offline-status"}"#, .status),
            (#"{"id":1,"request":"offline-jobs"}"#, .downloads(after: 0)),
            (#"{"id":1,"request":"offline-items","after":"tonearm:track/7"}"#, .items(after: "tonearm:track/7")),
            (#"{"id":1,"request":"offline-verify","product":"tonearm:track/7"}"#, .verify("tonearm:track/7")),
        ])
    func lines(_ line: String, _ wanted: DownloadRequest) throws {
        guard case .success(let request) = request(line) else {
            Issue.record("\(line) is refused")
            return
        }
        #expect(request == .later(.download(wanted)))
    }

    @Test(
        "Mistakes",
        arguments: [
            #"{"id":1,"request":"offline-add"}"#, #"{"id":1,"request":"offline-remove"}"#,
            #"{"id":1,"request":"offline-remove","all":true,"products":[{"path":"tonearm:track/7"}]}"#,
            #"{"id":1,"request":"offline-add","products":[{"path":"tonearm:track/7"}],"priority":1001}"#,
            #"{"id":1,"request":"offline-jobs","after":"x"}"#, #"{"id":1,"request":"offline-verify"}"#,
        ])
    func mistakes(_ line: String) {
        if case .success = request(line) { Issue.record("\(line) is accepted") }
    }

    @Test("Entries and events as JSON")
    func json() throws {
        func text(_ members: [JSONValue.Member]) -> String { JSONValue.object(members).serialized() }
        let status = OfflineEngine.Status(
            copyCount: 2, downloadCount: 1, usedBytes: 7, budget: nil, isNearlyFull: false, wait: .unmeteredNetwork)
        #expect(
            text(DownloadJSON.members(.status(status)))
                == #"{"kept":2,"downloads":1,"bytes":7,"budget":null,"nearlyFull":false,"#
                + #""waitsFor":"unmetered-network","retryIn":null}"#
        )
        #expect(
            text(DownloadJSON.members(.changed(count: 2, unchanged: 1))) == #"{"changed":2,"unchanged":1}"#)
        #expect(
            text(DownloadJSON.members(.progress(referenceId: "tonearm:track/7", percent: 40)))
                == #"{"change":"progress","product":"tonearm:track/7","percent":40}"#)
        var entry = OfflineEntry(
            product: "tonearm:track/7", referenceId: "r", status: .complete, bytes: 9, audioQuality: .high)
        entry.audioMode = .dolbyAtmos
        entry.assetPresentation = .preview
        entry.receivedProduct = "tonearm:track/99"
        #expect(
            text(DownloadJSON.members(.items([entry], next: nil)))
                == #"{"entries":[{"product":"tonearm:track/7","state":"kept","bytes":9,"quality":"high","#
                + #""mode":"dolby-atmos","presentation":"preview","received":"tonearm:track/99","#
                + #""validUntil":null,"title":null,"artist":null}],"next":null}"#)
        #expect(
            text(DownloadJSON.members(.unreadable(reason: "denied"))) == #"{"whole":null,"reason":"denied"}"#)
        #expect(text(DownloadJSON.members(.keyLost(count: 3))) == #"{"change":"key-lost","count":3}"#)
        let error = PlayerError(.retryable, code: "h503", message: "later")
        #expect(
            text(DownloadJSON.members(.cancelled(referenceId: "tonearm:track/7")))
                == #"{"change":"cancelled","product":"tonearm:track/7"}"#)
        #expect(text(DownloadJSON.members(.allCancelled)) == #"{"change":"all-cancelled"}"#)
        #expect(
            text(DownloadJSON.members(.failed(referenceId: "tonearm:track/7", error)))
                == #"{"change":"failed","product":"tonearm:track/7","code":"h503","message":"later"}"#)
    }

    @Test("A download that waits for a retry, with the seconds until then")
    func retry() {
        func text(_ reply: DownloadReply) -> String { JSONValue.object(DownloadJSON.members(reply)).serialized() }
        let wait = OfflineWait.retry(.network(seconds: 12.5))
        let entry = OfflineEntry(
            product: "tonearm:track/9", referenceId: "r", status: .waiting(wait), bytes: 7, audioQuality: .lossless)
        #expect(
            text(.downloads([entry], next: nil))
                == #"{"entries":[{"product":"tonearm:track/9","state":"waiting","waitsFor":"retry","retryIn":12.5,"#
                + #""bytes":7,"quality":"lossless","mode":null,"presentation":null,"received":null,"#
                + #""validUntil":null,"title":null,"artist":null}],"next":null}"#)
        var other = entry
        other.status = .waiting(.medium)
        #expect(text(.downloads([other], next: nil)).contains(#""waitsFor":"medium""#))
        other.status = .waiting(.network)
        #expect(!text(.downloads([other], next: nil)).contains("retryIn"))
        other.status = .waiting(.storage)
        #expect(text(.downloads([other], next: nil)).contains(#""waitsFor":"storage""#))
        let status = OfflineEngine.Status(
            copyCount: 2, downloadCount: 1, usedBytes: 7, budget: nil, isNearlyFull: false, wait: wait)
        #expect(text(.status(status)).hasSuffix(#","waitsFor":"retry","retryIn":12.5}"#))
    }

    @Test("Without a content service each of them is refused")
    func withoutService() throws {
        let loop = try EventLoop()
        var answers: [Result<DownloadReply, RemoteFailure>] = []
        DownloadExecution(engine: nil, loop: loop).perform(.status) { answers.append($0) }
        guard case .failure(let failure) = try #require(answers.first) else {
            Issue.record("it is answered")
            return
        }
        #expect(failure.reason == .noService)
    }

    @Test("When there can be no offline copies, the answer is the reason and not that there is no content service")
    func unusable() throws {
        let loop = try EventLoop()
        var answers: [Result<DownloadReply, RemoteFailure>] = []
        DownloadExecution(engine: nil, loop: loop, problem: "the key is damaged").perform(.downloads(after: 0)) {
            answers.append($0)
        }
        #expect(answers == [.failure(RemoteFailure(.system, "the key is damaged"))])
    }

    @Test(
        "A list that cannot be read is a failure, and not empty",
        arguments: [DownloadRequest.downloads(after: 0), .items(after: ""), .verify("tonearm:track/7"), .status])
    func unreadable(_ request: DownloadRequest) throws {
        #expect(try failure(of: request).message.contains("cannot be read"))
    }

    @Test(
        "A change that cannot be stored is a failure, and not a change of nothing",
        arguments: [
            DownloadRequest.add(["tonearm:track/7"], priority: 0), .remove(nil), .remove(["tonearm:track/7"]),
            .pause(nil), .pause(["tonearm:track/7", "tonearm:track/8"]), .resume(nil), .resume(["tonearm:track/7"]),
            .cancel(nil), .cancel(["tonearm:track/7"]),
        ])
    func unwritable(_ request: DownloadRequest) throws {
        #expect(try failure(of: request).message.contains("offline_"))
    }

    /// The failure of a request with a database that has lost its tables.
    private func failure(of request: DownloadRequest) throws -> RemoteFailure {
        let folder = try ScratchFolder()
        let kept = try OfflineCopies(in: folder)
        defer { withExtendedLifetime(kept) {} }
        try kept.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute("DROP TABLE offline_item")
            try rows.database.execute("DROP TABLE offline_job")
        }
        let loop = kept.loop
        var answers: [Result<DownloadReply, RemoteFailure>] = []
        DownloadExecution(engine: kept.engine, loop: loop).perform(request) {
            answers.append($0)
            loop.stop()
        }
        loop.run()
        guard case .failure(let failure) = try #require(answers.first) else {
            throw Unexpected("it is answered: \(answers)")
        }
        #expect(failure.reason == .system)
        return failure
    }

    @Test("The problem names a lost key, and how much room there is besides", arguments: [0, 3])
    func lostKey(_ count: Int) {
        var status = OfflineEngine.Status(
            copyCount: 5, downloadCount: 0, usedBytes: 90 << 20, budget: 100 << 20, isNearlyFull: false, wait: nil)
        status.lostCount = count
        #expect(status.problem?.contains("3 offline copies cannot be read") == (count > 0 ? true : nil))
        status.isNearlyFull = true
        #expect(status.problem?.contains("90 of 100 MiB") == true)
        status.folderProblem = "its medium is missing"
        #expect(status.problem?.hasPrefix("its medium is missing; ") == true)
    }
}
