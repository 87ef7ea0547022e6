import Network
import Platform
import PlayerTestSupport
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("Which downloads run (docs/playback.md, 16.4 and 16.5)")
struct OfflineScheduleTests: ScheduleSuite {
    @Test("Downloads begin when the network may be used, as many at once as allowed, each told once")
    func begins() {
        var schedule = OfflineSchedule(limit: 2)
        #expect(schedule.handle(.downloadsChanged) == [])
        #expect(schedule.handle(.gateChanged(Self.open)) == [.find(limit: 2)])
        let (first, second, third) = (Self.download(1), Self.download(2), Self.download(3))
        #expect(
            schedule.handle(.found([first, second, third])) == [
                .send(.started(referenceId: "r1")), .start(first), .send(.started(referenceId: "r2")), .start(second),
            ])
        #expect(
            schedule.handle(.ended(first, .complete)) == [
                .send(.progress(referenceId: "r1", percent: 100)), .send(.done(referenceId: "r1")), .find(limit: 3),
            ])
        // The running download is among those whose turn it is.
        #expect(
            schedule.handle(.found([second, third])) == [.send(.started(referenceId: "r3")), .start(third)])
    }

    @Test("Percents never fall, and each is told once")
    func percents() {
        var schedule = Self.started([Self.download(1)])
        let product = Self.download(1).product
        let told = [5, 5, 4, 6, 99].map { schedule.handle(.progress(product, percent: $0)).count }
        #expect(told == [1, 0, 0, 1, 1])
        #expect(schedule.handle(.progress(Self.download(9).product, percent: 50)) == [])
    }

    @Test("Content that begins again is told from where it was on")
    func beginsAgain() {
        var schedule = Self.started([Self.download(1)])
        let product = Self.download(1).product
        #expect(schedule.handle(.progress(product, percent: 60)).count == 1)
        #expect(schedule.handle(.ended(Self.download(1), .stopped)) == [.find(limit: 3)])
        #expect(schedule.handle(.found([Self.download(1)])) == [.start(Self.download(1))])
        #expect(schedule.handle(.progress(product, percent: 5)) == [])
        #expect(schedule.status(of: Self.download(1)) == .running(percent: 60))
        #expect(schedule.handle(.progress(product, percent: 61)).count == 1)
    }

    @Test("A download that a restart continues was reported before, and begins at its percent")
    func continues() {
        var download = Self.download(1)
        download.progress = OfflineProgress(
            content: [], sealedKey: [], fingerprint: [], synced: 65_536, parts: ContentParts(), percent: 40)
        var schedule = OfflineSchedule(limit: 1)
        _ = schedule.handle(.gateChanged(Self.open))
        #expect(schedule.handle(.found([download])) == [.start(download)])
        #expect(schedule.handle(.progress(download.product, percent: 40)) == [])
        #expect(schedule.handle(.progress(download.product, percent: 41)).count == 1)
    }

    @Test("A download that is requested again after a failure is reported, whatever it has on the medium")
    func asksAgain() {
        var download = Self.download(1)
        download.progress = OfflineProgress(
            content: [], sealedKey: [], fingerprint: [], synced: 65_536, parts: ContentParts(), percent: 40)
        var schedule = Self.started([download], limit: 1)
        let error = PlayerError(.unexpected, code: "x", message: "x")
        #expect(
            schedule.handle(.ended(download, .failed(error))) == [
                .send(.failed(referenceId: "r1", error)), .find(limit: 1),
            ])
        // Resumed by hand, in this process or in another one, which has not seen the failure.
        download.isToBeReported = true
        #expect(schedule.handle(.found([download])) == [.send(.started(referenceId: "r1")), .start(download)])
        var next = OfflineSchedule(limit: 1)
        _ = next.handle(.gateChanged(Self.open))
        #expect(next.handle(.found([download])) == [.send(.started(referenceId: "r1")), .start(download)])
    }

    @Test(
        "The reasons why downloads wait",
        arguments: [
            (OfflineGate(link: .offline), OfflineWait.network as OfflineWait?),
            (OfflineGate(link: .cellular), .unmeteredNetwork),
            (OfflineGate(link: .cellular, allowsCellular: true), nil),
            (OfflineGate(link: .cellular, hasUnmeteredRoute: true), nil),
            (OfflineGate(link: .wifi), nil), (OfflineGate(link: .ethernet), nil),
            (OfflineGate(link: .wifi, isOfflineMode: true), .onlineMode),
            (OfflineGate(link: .wifi, isTakenByPlayback: true), .playback),
            (OfflineGate(link: .wifi, isFolderOurs: false, isTakenByPlayback: true), .medium),
            (OfflineGate(link: .offline, isFolderOurs: false), .network),
            (OfflineGate(link: .offline, isOfflineMode: true), .onlineMode),
        ])
    func waits(_ gate: OfflineGate, _ wait: OfflineWait?) {
        #expect(gate.wait == wait)
        var schedule = OfflineSchedule(limit: 1)
        #expect(schedule.handle(.gateChanged(gate)) == (wait == nil ? [.find(limit: 1)] : []))
    }

    @Test("A network that may not be used any more stops what runs; playback does not")
    func stops() {
        var schedule = Self.started([Self.download(1), Self.download(2)])
        #expect(schedule.handle(.gateChanged(OfflineGate(link: .ethernet, isTakenByPlayback: true))) == [])
        let cellular = OfflineGate(link: .cellular)
        #expect(
            schedule.handle(.gateChanged(cellular)) == [
                .stop(Self.download(1).product), .stop(Self.download(2).product),
            ])
        #expect(schedule.handle(.gateChanged(cellular)) == [])
        #expect(schedule.handle(.ended(Self.download(1), .stopped)) == [])
        #expect(schedule.handle(.ended(Self.download(2), .stopped)) == [])
        #expect(schedule.handle(.gateChanged(Self.open)) == [.find(limit: 3)])
    }

    @Test("A download whose way is metered waits for a change of the routes; others go on until several have waited")
    func metered() {
        let downloads = (1...10).map { Self.download(Int64($0)) }
        var schedule = Self.started([downloads[0]], limit: 1)
        for (index, download) in downloads.prefix(8).enumerated() {
            _ = schedule.handle(.ended(download, .metered))
            #expect(schedule.status(of: download) == .waiting(.unmeteredNetwork))
            #expect(schedule.status(of: downloads[9]) == (index < 7 ? .queued : .waiting(.unmeteredNetwork)))
            #expect(schedule.handle(.found(downloads)).contains(.start(downloads[index + 1])) == (index < 7))
        }
        #expect(schedule.wait == .unmeteredNetwork)
        #expect(schedule.handle(.routesChanged) == [])
        #expect(schedule.wait == nil && schedule.status(of: downloads[0]) == .queued)
    }

    @Test(
        "A download without a route is tried again after a time, and when a person does not want to wait",
        arguments: [0, 1, 2])
    func meteredWaits(way: Int) {
        let download = Self.download(1)
        var schedule = Self.started([download], limit: 1)
        // More than the routes decides it.
        #expect(schedule.handle(.ended(download, .metered)) == [.waitForWay, .find(limit: 2)])
        _ = schedule.handle(.found([download]))
        switch way {
        case 0: #expect(schedule.handle(.wayWaited) == [.find(limit: 1)])
        case 1: #expect(schedule.handle(.hurried(download.product)) == [.find(limit: 1)])
        default: _ = schedule.handle(.withdrawn(Self.download(2).product))
        }
        #expect(schedule.wait == nil && schedule.status(of: download) == .queued)
    }

    @Test("Routes that change again and again begin no further timer")
    func meteredTimer() {
        let download = Self.download(1)
        var schedule = Self.started([download], limit: 1)
        #expect(schedule.handle(.ended(download, .metered)).contains(.waitForWay))
        for _ in 0..<3 {
            _ = schedule.handle(.routesChanged)
            _ = schedule.handle(.gateChanged(Self.open))
            _ = schedule.handle(.found([download]))
            #expect(!schedule.handle(.ended(download, .metered)).contains(.waitForWay))
        }
        _ = schedule.handle(.wayWaited)
        _ = schedule.handle(.found([download]))
        #expect(schedule.handle(.ended(download, .metered)).contains(.waitForWay))
    }

    @Test("A list that cannot be read forgets nothing, and is asked for again")
    func notFound() {
        var schedule = Self.started([Self.download(1)], limit: 1)
        #expect(schedule.handle(.ended(Self.download(1), .metered)) == [.waitForWay, .find(limit: 2)])
        #expect(schedule.handle(.notFound) == [])
        #expect(schedule.wait == .unmeteredNetwork)
        #expect(schedule.handle(.downloadsChanged) == [.find(limit: 2)])
    }

    @Test("A download that found its way metered before the routes changed, and ends after that, is tried again")
    func meteredBefore() {
        var schedule = Self.started([Self.download(1)], limit: 1)
        _ = schedule.handle(.routesChanged)
        #expect(schedule.handle(.ended(Self.download(1), .metered)) == [.find(limit: 1)])
        #expect(schedule.wait == nil && schedule.status(of: Self.download(1)) == .queued)
    }

    @Test("A run whose transfer is repeated waits; downloads do when none of those that run goes on")
    func retries() {
        let (first, second) = (Self.download(1), Self.download(2))
        var schedule = Self.started([first, second])
        #expect(schedule.status(of: first, .service(seconds: 7)) == .waiting(.retry(.service(seconds: 7))))
        #expect(schedule.status(of: second, .network(seconds: 0)) == .waiting(.retry(.network(seconds: 0))))
        #expect(schedule.status(of: second) == .running(percent: 0))
        #expect(schedule.waitOfAll([.service(seconds: 7), nil]) == nil)
        #expect(schedule.waitOfAll([.service(seconds: 7), .network(seconds: 2.5)]) == .retry(.network(seconds: 2.5)))
        #expect(schedule.waitOfAll([]) == nil)
        _ = schedule.handle(.gateChanged(OfflineGate(link: .offline)))
        #expect(schedule.waitOfAll([.service(seconds: 7), .network(seconds: 2.5)]) == .network)
    }

    @Test("A run that waits for a retry gives its place to the next one, and the last one gives it back")
    func retryGivesPlace() {
        let downloads = [1, 2, 3].map { Self.download($0) }
        var schedule = Self.started([downloads[0]], limit: 1)
        #expect(schedule.handle(.retryChanged(downloads[0].product, isWaiting: true)) == [.find(limit: 2)])
        #expect(
            schedule.handle(.found(downloads)) == [.send(.started(referenceId: "r2")), .start(downloads[1])])
        #expect(schedule.handle(.downloadsChanged) == [])
        #expect(schedule.handle(.retryChanged(downloads[0].product, isWaiting: false)) == [.stop(downloads[1].product)])
        #expect(schedule.handle(.ended(downloads[1], .stopped)) == [])
        #expect(schedule.status(of: downloads[1]) == .queued)
        #expect(schedule.handle(.ended(downloads[0], .complete)).last == .find(limit: 1))
    }

    @Test("Each that waits for a retry has a thread: from eight on the last one gives its own to another, and rests")
    func retryBound() {
        let downloads = (1...10 as ClosedRange<Int64>).map { Self.download($0) }
        var schedule = Self.started([], limit: 3)
        _ = schedule.handle(.downloadsChanged)
        var (started, stopped): ([Int64], [ServiceAddress]) = ([], [])
        func note(_ effects: [OfflineSchedule.Effect]) {
            for effect in effects {
                if case .start(let download) = effect { started.append(download.number) }
                if case .stop(let product) = effect { stopped.append(product) }
            }
        }
        note(schedule.handle(.found(downloads)))
        #expect(started == [1, 2, 3])
        for download in downloads.prefix(6) {
            if schedule.handle(.retryChanged(download.product, isWaiting: true)) != [] {
                note(schedule.handle(.found(downloads)))
            }
        }
        #expect(started == [1, 2, 3, 4, 5, 6, 7, 8] && stopped == [downloads[5].product])
        #expect(
            schedule.handle(.ended(downloads[5], .stopped))
                == [.rest(6, nanoseconds: 1_000_000_000), .find(limit: 11)])
        note(schedule.handle(.found(downloads)))
        #expect(started.last == 9)
        #expect(schedule.rests(6))
    }

    @Test("A download whose service is away rests, longer each time, and bytes end that")
    func away() {
        let error = PlayerError(.retryable, .foreign(status: 200), message: "a page")
        var schedule = Self.started([Self.download(1)], limit: 1)
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(
                schedule.handle(.ended(Self.download(1), .away(error)))
                    == [.rest(1, nanoseconds: seconds * 1_000_000_000), .find(limit: 2)])
            #expect(schedule.rests(1) && schedule.reasonOfRest == "a page")
            // It is not its turn.
            #expect(schedule.handle(.found([Self.download(1)])) == [])
            #expect(schedule.handle(.rested(1)) == [.find(limit: 1)])
            #expect(schedule.handle(.found([Self.download(1)])) == [.start(Self.download(1))])
        }
        _ = schedule.handle(.progress(Self.download(1).product, percent: 1))
        #expect(
            schedule.handle(.ended(Self.download(1), .away(error)))
                == [.rest(1, nanoseconds: 1_000_000_000), .find(limit: 2)])
        // Another link.
        _ = schedule.handle(.found([]))
        #expect(schedule.handle(.hurried(nil)) == [.find(limit: 1)])
        #expect(!schedule.rests(1) && schedule.reasonOfRest == nil)
    }

    @Test("Bytes that are fetched again are no progress: the rest grows; new ones end it", arguments: [99, 40])
    func fetchedAgain(percent: Int) {
        let error = PlayerError(.retryable, .foreign(status: 416), message: "cut")
        var schedule = Self.started([Self.download(1)], limit: 1)
        _ = schedule.handle(.progress(Self.download(1).product, percent: percent))
        func rest() -> [OfflineSchedule.Effect] { schedule.handle(.ended(Self.download(1), .away(error))) }
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(rest() == [.rest(1, nanoseconds: seconds * 1_000_000_000), .find(limit: 2)])
            _ = schedule.handle(.found([]))
            _ = schedule.handle(.rested(1))
            #expect(schedule.handle(.found([Self.download(1)])) == [.start(Self.download(1))])
            // Content that has changed begins at 0 again.
            for again in [0, percent / 2, percent] {
                #expect(schedule.handle(.progress(Self.download(1).product, percent: again)) == [])
            }
        }
        guard percent < 99 else { return }
        _ = schedule.handle(.progress(Self.download(1).product, percent: percent + 1))
        #expect(rest() == [.rest(1, nanoseconds: 1_000_000_000), .find(limit: 2)])
    }

    @Test("A deleted or paused download is stopped; a change while the database is asked is not lost")
    func withdrawn() {
        var schedule = Self.started([Self.download(1)])
        #expect(schedule.handle(.withdrawn(Self.download(2).product)) == [])
        #expect(schedule.handle(.withdrawn(Self.download(1).product)) == [.stop(Self.download(1).product)])
        #expect(schedule.handle(.downloadsChanged) == [.find(limit: 4)])
        #expect(schedule.handle(.downloadsChanged) == [])
        #expect(schedule.handle(.found([])) == [.find(limit: 4)])
    }

    @Test("A failure is told, and the next one begins")
    func fails() {
        var schedule = Self.started([Self.download(1)], limit: 1)
        let error = PlayerError(.retryable, .service(status: 503, subStatus: nil), message: "m")
        #expect(
            schedule.handle(.ended(Self.download(1), .failed(error)))
                == [.send(.failed(referenceId: "r1", error)), .find(limit: 1)])
    }
}
