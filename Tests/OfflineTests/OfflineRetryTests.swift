import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("A download that is to be tried again says so, and when (docs/playback.md, 16.9)", .serialized)
struct OfflineRetryTests {
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()
    private let product = OfflineFixture.product(7)

    init() throws {
        folder = try ScratchFolder()
        let track = try Track("a", frames: 50_000, in: folder)
        file = try track.file
        service.serve(file, as: "7")
    }

    @Test(
        "A delay that the service asks for is shown and counts down, and then the download completes",
        arguments: [true, false])
    func asked(isOfContent: Bool) throws {
        if isOfContent {
            service.refuseContent([503], retryAfter: 3600)
        } else {
            service.refuse(503, retryAfter: 3600)
        }
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(product))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.service(seconds: 3600))) }
        #expect(offline.wait() == .retry(.service(seconds: 3600)))
        offline.retryClock.advance(by: 3_599_500_000_000)
        #expect(offline.status(of: 7) == .waiting(.retry(.service(seconds: 0.5))))
        #expect(offline.wait() == .retry(.service(seconds: 0.5)))
        // The time is over, and the answer is not there.
        offline.retryClock.advance(by: 1_000_000_000)
        #expect(offline.status(of: 7) == .waiting(.retry(.service(seconds: 0))))
        if !isOfContent { service.refuse(nil) }
        try offline.spin("the delay") { service.passDelays() }
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
        #expect(offline.status(of: 7) == .complete && offline.wait() == nil)
    }

    @Test("The network fails in a row: the wait grows, and ends when bytes come")
    func network() throws {
        service.loseContent(2)
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(product))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.network(seconds: 0.5))) }
        try offline.spin("the delay") { service.passDelays() }
        try offline.spin("the second wait") { offline.status(of: 7) == .waiting(.retry(.network(seconds: 1))) }
        service.hang(after: file.count / 2)
        try offline.spin("the delay") { service.passDelays() }
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        guard case .running? = offline.status(of: 7) else {
            Issue.record("it does not run")
            return
        }
        #expect(offline.wait() == nil)
        service.release()
        try offline.wait(for: "done r7")
    }

    @Test("One that waits does not hide that another goes on")
    func beside() throws {
        service.serve(file, as: "8")
        service.refuseContent([503], retryAfter: 60)
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(product))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.service(seconds: 60))) }
        try offline.downloadPart(of: 8, file, percent: 50)
        #expect(offline.status(of: 8) == .running(percent: 50) && offline.wait() == nil)
        #expect(offline.status(of: 7) == .waiting(.retry(.service(seconds: 60))))
        service.release()
        try offline.wait(for: "done r8")
        try offline.spin("the delay") { service.passDelays() }
        try offline.wait(for: "done r7")
    }

    @Test("One that waits gives its place to the next one")
    func place() throws {
        service.serve(file, as: "8")
        service.refuseContent([503], retryAfter: 3600)
        let offline = try OfflineFixture(service) { $0.parallelDownloads = 1 }
        #expect(offline.engine.offline(product))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.service(seconds: 3600))) }
        try offline.keep(8)
        #expect(offline.status(of: 7) == .waiting(.retry(.service(seconds: 3600))))
        try offline.spin("the delay") { service.passDelays() }
        try offline.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "started r8", "done r8", "done r7"])
    }

    @Test("After a restart it is asked at once")
    func restart() throws {
        service.refuseContent([503], retryAfter: 3600)
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            state = offline.folder
            #expect(offline.engine.offline(product))
            try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.service(seconds: 3600))) }
        }
        let again = try OfflineFixture(in: state, service)
        try again.wait(for: "done r7")
        #expect(service.contentRequests.count == 2)
    }

    @Test("Paused in the wait it is paused, and resumed it is asked at once")
    func paused() throws {
        service.refuse(503, retryAfter: 3600)
        let offline = try OfflineFixture(service)
        #expect(offline.engine.offline(product))
        try offline.spin("the wait") { offline.status(of: 7) == .waiting(.retry(.service(seconds: 3600))) }
        offline.engine.pause(product) { _ in }
        try offline.spin("the pause") { offline.status(of: 7) == .paused }
        service.refuse(nil)
        offline.engine.resume(product) { _ in }
        try offline.wait(for: "done r7")
        #expect(service.infoRequests == 2)
    }
}
