import Database
import Foundation
import Network
import OfflineTestSupport
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Offline
@testable import Player
@testable import Playback

@Suite("The timers of the offline engine (docs/playback.md, 16.4 and 16.6)", .serialized)
struct OfflineTimersTests {
    private static let second: Int64 = 1_000_000_000
    private let folder: ScratchFolder
    private let file: [UInt8]
    private let service = OfflineTestService()

    init() throws {
        folder = try ScratchFolder()
        let track = try Track("a", frames: 50_000, in: folder)
        file = try track.file
        service.serve(file, as: "7")
        service.setDates(revalidateAt: 1_000_100, validUntil: 1_000_200)
    }

    /// The state with a product that is due from 1,000,101 s on. The service has later dates now.
    private func kept() throws -> ScratchFolder {
        let offline = try OfflineFixture(service)
        try offline.keep(7)
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        return offline.folder
    }

    @Test("A round of validation is six hours of running after the one before, and not earlier")
    func rounds() throws {
        let offline = try DrivenOffline(in: try kept(), service, now: 1_000_000)
        let count = service.infoRequests
        offline.advance(by: 6 * 3600 * Self.second - 1)
        // A round that began here would find no product, and the next one would be six hours away.
        offline.answerReads()
        offline.time.seconds = 1_000_101
        offline.advance(by: 1)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        #expect(service.infoRequests == count + 1)
    }

    @Test("A system clock that jumps begins no round: only running counts")
    func jump() throws {
        let offline = try DrivenOffline(in: try kept(), service, now: 1_000_000)
        let count = service.infoRequests
        service.setDates(revalidateAt: 400_000_000, validUntil: 500_000_000)
        offline.time.seconds = 300_000_000
        offline.advance(by: 3600 * Self.second)
        offline.answerReads()
        #expect(offline.status(of: 7) == .expired)
        #expect(service.infoRequests == count)
        offline.advance(by: 5 * 3600 * Self.second)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 500_000_000 }
        #expect(service.infoRequests == count + 1)
    }

    @Test("While nobody knows what time it is, the rounds are a minute apart")
    func unknownTime() throws {
        let offline = try DrivenOffline(in: try kept(), service, now: nil)
        let count = service.infoRequests
        offline.advance(by: 60 * Self.second - 1)
        offline.answerReads()
        offline.time.seconds = 1_000_101
        offline.advance(by: 1)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
        #expect(service.infoRequests == count + 1)
    }

    @Test("While no time is proved, a copy is due by the system's clock at once, and does not expire")
    func estimatedTime() throws {
        let state = try kept()
        service.refuse(403)
        let count = service.infoRequests
        do {
            let offline = try DrivenOffline(in: state, service, now: nil, systemClock: 1_000_099)
            for _ in 1...3 { offline.answerReads() }
            #expect(service.infoRequests == count)
        }
        // A day after its end.
        let offline = try DrivenOffline(in: state, service, now: nil, systemClock: 1_086_600)
        try offline.spin("the request") { service.infoRequests == count + 1 }
        #expect(offline.status(of: 7) == .complete)
        #expect(offline.engine.getOfflineState(OfflineFixture.product(7)) == .offlinedAndValid)
    }

    @Test("While no time is proved, a refused download is tried again a day later by the system's clock")
    func estimatedFailure() throws {
        service.refuse(404)
        let offline = try DrivenOffline(in: try ScratchFolder(), service, now: nil, systemClock: 1_000_000)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") {
            if case .failed = offline.status(of: 7) { true } else { false }
        }
        service.refuse(nil)
        offline.time.unprovedSeconds = 1_086_399
        offline.advance(by: 3600 * Self.second)
        for _ in 1...3 { offline.answerReads() }
        guard case .failed = offline.status(of: 7) else { return #expect(Bool(false)) }
        offline.time.unprovedSeconds = 1_086_400
        offline.advance(by: 3600 * Self.second)
        try offline.spin("the copy") { offline.status(of: 7) == .complete }
    }

    @Test("A round that began with the time of an earlier start is followed by another one in a minute")
    func unprovedRound() throws {
        service.serve(file, as: "8")
        let state: ScratchFolder
        do {
            let offline = try OfflineFixture(service)
            try offline.keep(7)
            service.setDates(revalidateAt: 1_000_500, validUntil: 1_000_700)
            try offline.keep(8)
            state = offline.folder
        }
        service.setDates(revalidateAt: 5_000_000, validUntil: 6_000_000)
        // Only the first one is due by that time. The service does not answer at once, and the true time arrives
        // meanwhile.
        service.refuse(503)
        let count = service.infoRequests
        let record = TrustedTime.Record(milliseconds: 1_000_101_000, sinceBoot: 0, boot: "former", isProved: true)
        let offline = try DrivenOffline(in: state, service, now: nil, record: record)
        try offline.spin("the request") { service.infoRequests == count + 1 }
        offline.time.seconds = 1_000_600
        service.refuse(nil)
        try offline.spin("the end of the validation") {
            service.passDelays()
            let isOver = Locked(false)
            offline.onControl { isOver.set(!$0.isValidating) }
            return isOver.value && service.infoRequests == count + 2
        }
        offline.answerReads()
        offline.advance(by: 60 * Self.second)
        try offline.spin("the second one") { offline.entries().allSatisfy { $0.validUntil == 6_000_000 } }
        #expect(service.infoRequests == count + 3)
    }

    @Test(
        "A service that is a day behind, or refuses, is asked once an hour, also while no time is proved",
        arguments: [true, false])
    func onceAnHour(isProved: Bool) throws {
        let state = try kept()
        if isProved { service.setDates(revalidateAt: 1_000_101, validUntil: 2_000_000) } else { service.refuse(404) }
        let count = service.infoRequests
        let record = TrustedTime.Record(milliseconds: 1_000_150_000, sinceBoot: 0, boot: "former", isProved: true)
        let offline = try DrivenOffline(in: state, service, now: isProved ? 1_000_150 : nil, record: record)
        func waitForEnd() throws {
            try offline.spin("the end of the round") {
                let isOver = Locked(false)
                offline.onControl { isOver.set(!$0.isValidating) }
                return isOver.value && service.infoRequests > count
            }
            for _ in 1...3 { offline.answerReads() }
        }
        try waitForEnd()
        for _ in 1...59 {
            offline.advance(by: 60 * Self.second)
            for isOn in [false, true] { offline.onControl { $0.linkChanged(to: isOn ? Link(.ethernet) : .offline) } }
            for _ in 1...3 { offline.answerReads() }
        }
        #expect(service.infoRequests == count + 1)
        offline.advance(by: (isProved ? 5 * 3600 + 60 : 60) * Self.second)
        try offline.spin("the next one") { service.infoRequests == count + 2 }
    }

    @Test("A failure that cannot be stored is told once, is no lack of room, and is tried again when it can be")
    func stateFails() throws {
        let offline = try DrivenOffline(in: try ScratchFolder(), service, now: 1_000_000)
        try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute(
                "CREATE TRIGGER broken BEFORE UPDATE ON offline_job BEGIN SELECT RAISE(ABORT, 'broken'); END")
        }
        service.refuse(404)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        try offline.spin("the failure") { offline.log.events.count == 2 }
        guard case .failed = offline.status(of: 7) else { return #expect(Bool(false)) }
        #expect(offline.wait() == .storage)
        for _ in 1...3 {
            offline.advance(by: 60 * Self.second)
            offline.answerReads()
        }
        // The service is not asked when the result could not be recorded.
        #expect(offline.log.events.count == 2 && service.infoRequests == 1)
        service.refuse(nil)
        try offline.store.waitToWrite { (rows) throws(DatabaseError) -> Void in
            try rows.database.execute("DROP TRIGGER broken")
        }
        try offline.spin("the end") {
            offline.advance(by: 60 * Self.second)
            return offline.log.events.last == "done r7"
        }
        let events = offline.log.events
        #expect(events.count == 4 && events[1].hasPrefix("failed") && events[2] == "started r7")
        #expect(offline.wait() == nil)
    }

    @Test("While playback waits for bytes a download waits, none begins, and both go on afterwards")
    func giveWay() throws {
        let large = try Track("large", frames: 1_400_000, in: folder)
        let bytes = try large.file
        // The bytes that had arrived, and the read-ahead of a download, are far fewer.
        try #require(bytes.count > 5 << 20)
        for id in ["8", "9"] { service.serve(bytes, as: id) }
        let offline = try DrivenOffline(in: try ScratchFolder(), service, now: 1_000_000)
        try offline.keep(8)
        service.hang(after: bytes.count / 10)
        #expect(offline.engine.offline(OfflineFixture.product(9)))
        try offline.spin("the transfer") { service.hangingTransfers == 1 }
        let isWaiting = Locked(true)
        offline.onControl { conductor in conductor.precedence.playbackStalled { isWaiting.value } }
        let infos = service.infoRequests
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        #expect(offline.status(of: 7) == .waiting(.playback))
        service.release()
        try offline.spin("the rest of what is taken ahead") { service.pausedTransfers == 1 }
        // As much work as the download has left.
        let isEqual = try offline.decoded(8) == large.samples
        #expect(isEqual)
        // It is asked each second, and waits still.
        offline.advance(by: Self.second)
        #expect(offline.status(of: 7) == .waiting(.playback))
        #expect(offline.log.events == ["started r8", "done r8", "started r9"])
        #expect(service.pausedTransfers == 1 && service.infoRequests == infos)
        isWaiting.set(false)
        offline.advance(by: Self.second)
        try offline.log.wait(for: "done r9")
        try offline.log.wait(for: "done r7")
        #expect(service.contentRequests.filter { $0.product == "9" }.count == 1)
    }

    @Test("A product that plays and waits for the service goes before downloads")
    func stalled() throws {
        service.serve(file, as: "8")
        let offline = try OfflineFixture(service)
        service.hang(after: 10)
        offline.fixture.engine.load(OfflineFixture.product(7))
        offline.fixture.engine.play()
        try offline.spin("the wait for bytes") {
            service.hangingTransfers == 1
                && offline.fixture.engine.published.value.pipeline?.isWaitingForMedium ?? false
        }
        offline.fixture.settle()
        offline.fixture.advance(by: Self.second)
        try offline.fixture.wait(for: .stalled)
        let infos = service.infoRequests
        #expect(offline.engine.offline(OfflineFixture.product(8)))
        #expect(offline.status(of: 8) == .waiting(.playback))
        #expect(service.infoRequests == infos)
        service.release()
        try offline.fixture.wait(for: .playing)
        try offline.wait(for: "done r8")
    }

    @Test("A validation waits while the system has no thread left, and is not put off to the next round")
    func validationWithoutThread() throws {
        let offline = try DrivenOffline(in: try kept(), service, now: 1_000_000)
        let attempts = offline.refuseThreads(1, EAGAIN)
        offline.time.seconds = 1_000_101
        offline.advance(by: 6 * 3600 * Self.second)
        try offline.spin("the first attempt") { attempts.value == 1 }
        offline.answerReads()
        offline.advance(by: 10 * Self.second)
        try offline.spin("the validation") { offline.entries().first?.validUntil == 6_000_000 }
    }

    @Test("A download waits while the system has no thread or descriptor left", arguments: [true, false])
    func withoutThread(isOfThread: Bool) throws {
        let folder = try ScratchFolder()
        let track = try Track("a", frames: 50_000, in: folder)
        let service = OfflineTestService()
        service.serve(try track.file, as: "7")
        let offline = try DrivenOffline(in: try ScratchFolder(), service, now: 1_000_000)
        let attempts = offline.refuseThreads(2, isOfThread ? EAGAIN : EMFILE)
        #expect(offline.engine.offline(OfflineFixture.product(7)))
        for attempt in 1...2 {
            try offline.spin("attempt \(attempt)") {
                attempts.value == attempt
                    && offline.status(of: 7) == .waiting(.retry(.service(seconds: Double(attempt))))
            }
            offline.advance(by: Int64(attempt) * 1_000_000_000 - 1)
            offline.answerReads()
            #expect(attempts.value == attempt, "it does not begin again at once")
            offline.advance(by: 1)
        }
        try offline.log.wait(for: "done r7")
        #expect(offline.log.events == ["started r7", "done r7"])
    }
}

@Suite("The turns of playback and downloads in using the network")
struct NetworkTurnTests {
    @Test("A waiting thread is woken when the network is free, and can be stopped before")
    func waits() throws {
        let turn = NetworkTurn()
        try turn.wait(try Cancellation())
        turn.setTaken(true)
        let stopped = try Cancellation()
        stopped.cancel()
        #expect(throws: OfflineFailure.stopped) { try turn.wait(stopped) }
        let passed = DispatchSemaphore(value: 0)
        let cancellation = try Cancellation()
        let thread = try NamedThread.start(name: "waits") {
            do throws(OfflineFailure) {
                try turn.wait(cancellation)
                passed.signal()
            } catch {}
        }
        turn.setTaken(false)
        try passed.wait(for: "the network's turn")
        cancellation.cancel()
        thread.joinOrEndRun()
    }
}
