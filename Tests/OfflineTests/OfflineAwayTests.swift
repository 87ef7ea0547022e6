import Database
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Player

@Suite("A download whose service is away waits; only the service ends it (docs/playback.md, 16.8)", .serialized)
struct OfflineAwayTests {
    private static let second: Int64 = 1_000_000_000
    private let folder: ScratchFolder
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        service.serve(try Track("a", frames: 20_000, in: folder).file, as: "7")
    }

    private func driven(_ state: ScratchFolder, now: Int64? = 1_000_000) throws -> DrivenOffline {
        try DrivenOffline(in: state, service, now: now)
    }

    /// Lets the delays of the transfers pass until the download rests, after so many requests for playbackinfo.
    private func waitForRest(_ offline: DrivenOffline, seconds: Double = 1, after requests: Int) throws {
        try offline.spin("the rest after \(requests) requests") {
            service.passDelays()
            return service.infoRequests == requests
                && offline.status(of: 7) == .waiting(.retry(.service(seconds: seconds)))
                && offline.serviceProblem() != nil
        }
    }

    @Test("A service that fails is asked nine times more, and again after a second, two, four, up to a minute")
    func server() throws {
        service.refuse(503)
        let offline = try driven(try ScratchFolder())
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        for (index, seconds) in ([1, 2, 4, 8, 16, 32, 60, 60] as [Int64]).enumerated() {
            try waitForRest(offline, seconds: Double(seconds), after: 10 * (index + 1))
            #expect(offline.wait() == .retry(.service(seconds: Double(seconds))))
            offline.advance(by: seconds * Self.second)
        }
        try waitForRest(offline, seconds: 60, after: 90)
        #expect(offline.serviceProblem()?.contains("status 503") == true)
        service.refuse(nil)
        offline.advance(by: 60 * Self.second)
        try offline.log.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
        #expect(offline.serviceProblem() == nil)
    }

    @Test(
        "Something else answers in place of the service: the download waits, also over a restart, and completes",
        arguments: [true, false], [200, 201, 204, 206, 299, 302, 403, 404, 416])
    func foreign(isOfContent: Bool, status: Int) throws {
        if isOfContent, status != 200 {
            // After a part that was not requested the whole is requested.
            let times = status == 206 ? 4 : 2
            service.refuseContent([Int](repeating: status, count: times), asService: false)
        } else {
            service.showPage(status)
        }
        let state = try ScratchFolder()
        do {
            let offline = try driven(state)
            #expect(offline.engine.offline(OfflineFixture.product(7)))
            // Content is requested in a second session, and the whole after a part that was not requested.
            try waitForRest(offline, after: isOfContent && status != 200 || status == 206 ? 2 : 1)
            #expect(offline.serviceProblem()?.contains("status \(status)") == true)
            #expect(offline.log.events == ["started r7"])
        }
        service.showPage(nil)
        let again = try driven(state)
        try again.log.wait(for: "done r7")
        #expect(again.log.failure == nil)
    }

    @Test("Another link, another login and a person end the wait at once", arguments: 0..<3)
    func hurried(way: Int) throws {
        service.showPage(200)
        let offline = try driven(try ScratchFolder())
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try waitForRest(offline, after: 1)
        service.showPage(nil)
        switch way {
        case 0: offline.onControl { $0.linkChanged(to: Link(.wifi)) }
        case 1: offline.onControl { $0.loginChanged() }
        default: offline.engine.resume(OfflineFixture.product(7)) { _ in }
        }
        try offline.log.wait(for: "done r7")
    }

    @Test("A login that is refused is no failure of the download: it waits for another login")
    func login() throws {
        service.refuse(401, subStatus: 11003)
        let offline = try driven(try ScratchFolder())
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try waitForRest(offline, after: 1)
        #expect(offline.serviceProblem()?.contains("tonearm login") == true)
        service.refuse(nil)
        offline.onControl { $0.loginChanged() }
        try offline.log.wait(for: "done r7")
        #expect(offline.log.failure == nil)
    }

    @Test(
        "A refused download has failed; a day later it is tried again, also after a restart",
        arguments: [1, 2])
    func daily(starts: Int) throws {
        service.refuse(403, subStatus: 4033)
        let state = try ScratchFolder()
        var offline: DrivenOffline? = try driven(state)
        #expect(offline?.engine.offline(OfflineFixture.product(7)) == true)
        try offline?.spin("the failure") { offline?.log.failure != nil }
        for _ in 1..<starts {
            offline = nil
            offline = try driven(state)
        }
        let last = try #require(offline)
        service.refuse(nil)
        last.time.seconds = 1_000_000 + 86_399
        last.advance(by: 3600 * Self.second)
        last.answerReads()
        #expect(service.infoRequests == 1)
        last.time.seconds = 1_000_000 + 86_400
        last.advance(by: 3600 * Self.second)
        try last.log.wait(for: "done r7")
        #expect(service.infoRequests == 2)
    }

    @Test("Eight downloads that wait for their retries stop no other one")
    func eight() throws {
        let offline = try driven(try ScratchFolder())
        let file = try Track("b", frames: 2000, in: folder).file
        for id in 10..<22 {
            service.serve(file, as: "\(id)")
            service.fall(id.isMultiple(of: 2) ? .lost : .busy, for: "\(id)")
            #expect(offline.engine.offline(OfflineFixture.product(id)))
        }
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        // Each of those that fail makes room, not faster than one a second.
        try offline.spin("the download") {
            offline.advance(by: Self.second)
            offline.answerReads()
            return offline.log.events.contains("done r7")
        }
        #expect(!offline.log.events.contains { $0.hasPrefix("failed") })
    }
}
