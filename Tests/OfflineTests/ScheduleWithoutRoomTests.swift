import Network
import Platform
import Testing

@testable import Offline
@testable import Playback
@testable import Player

@Suite("Which downloads run when some have no room (docs/playback.md, 16.5)")
struct ScheduleWithoutRoomTests: ScheduleSuite {
    @Test("A download without room waits, others go on, and it begins again when there is some")
    func noSpace() {
        let (first, second) = (Self.download(1), Self.download(2))
        var schedule = Self.started([first])
        #expect(schedule.handle(.ended(first, .noSpace)) == [.waitForSpace, .find(limit: 4)])
        #expect(schedule.status(of: first) == .waiting(.space) && schedule.wait == .space)
        #expect(schedule.status(of: second) == .queued)
        #expect(
            schedule.handle(.found([first, second])) == [.send(.started(referenceId: "r2")), .start(second)])
        #expect(schedule.status(of: second) == .running(percent: 0))
        // It waits for one time, not for two.
        #expect(schedule.handle(.ended(second, .noSpace)) == [.find(limit: 5)])
        #expect(schedule.handle(.gateChanged(Self.open)) == [])
        #expect(schedule.handle(.found([first, second])) == [.find(limit: 5)])
        #expect(schedule.handle(.found([first, second])) == [])
        // One after the other, and they wait until it is certain that they have room.
        #expect(schedule.handle(.spaceFreed) == [.find(limit: 5)])
        #expect(schedule.handle(.found([first, second])) == [.start(first)])
        #expect(
            schedule.handle(.progress(first.product, percent: 1)) == [
                .send(.progress(referenceId: "r1", percent: 1)), .find(limit: 5),
            ])
        #expect(schedule.handle(.found([first, second])) == [.start(second)])
        #expect(schedule.wait == .space)
        #expect(schedule.handle(.progress(second.product, percent: 1)).last == .find(limit: 5))
        #expect(schedule.wait == nil)
    }

    @Test("A download that ends gives room to those that wait, also to one that is being refused meanwhile")
    func endFreesSpace() {
        let (first, second, third) = (Self.download(1), Self.download(2), Self.download(3))
        var schedule = Self.started([first, second, third])
        _ = schedule.handle(.ended(second, .noSpace))
        _ = schedule.handle(.found([first, second, third]))
        #expect(schedule.status(of: second) == .waiting(.space))
        #expect(schedule.handle(.ended(first, .complete)).last == .find(limit: 5))
        #expect(schedule.handle(.found([second, third])) == [.start(second)])
        // It was refused before the first one had ended: it does not wait for a minute.
        #expect(schedule.handle(.ended(third, .noSpace)) == [.find(limit: 6)])
        #expect(schedule.handle(.found([second, third])) == [])
        #expect(schedule.handle(.ended(second, .noSpace)) == [.waitForSpace, .find(limit: 5)])
        #expect(schedule.handle(.found([second, third])) == [.start(third)])
        // Two that have no room do not wake each other for ever.
        #expect(schedule.handle(.ended(third, .noSpace)) == [.find(limit: 5)])
        #expect(schedule.handle(.found([second, third])) == [])
        #expect(schedule.wait == .space)
    }

    @Test("A download that was deleted while it waited for room is not waited for")
    func deletedWithoutRoom() {
        var schedule = Self.started([Self.download(1)])
        _ = schedule.handle(.ended(Self.download(1), .noSpace))
        _ = schedule.handle(.found([Self.download(1)]))
        #expect(schedule.handle(.spaceFreed) == [.find(limit: 4)])
        #expect(schedule.wait == .space)
        #expect(schedule.handle(.found([])) == [])
        #expect(schedule.wait == nil)
    }

    @Test("A failure that cannot be stored is told once; nothing begins until the state can be written")
    func notStored() {
        let (first, second) = (Self.download(1), Self.download(2))
        var schedule = Self.started([first, second], limit: 2)
        let error = PlayerError(.unexpected, code: "x", message: "why")
        #expect(
            schedule.handle(.ended(first, .notStored(error)))
                == [.waitForState, .send(.failed(referenceId: "r1", error))])
        #expect(schedule.status(of: first) == .failed(reason: "why"))
        #expect(schedule.status(of: Self.download(3)) == .waiting(.storage) && schedule.wait == .storage)
        #expect(schedule.handle(.spaceFreed) == [])
        #expect(
            schedule.handle(.ended(second, .notStored(error))) == [.send(.failed(referenceId: "r2", error))])
        #expect(schedule.unstored.keys.sorted() == [1, 2])
        #expect(schedule.handle(.stateWritten) == [.find(limit: 2)])
        #expect(schedule.wait == nil && schedule.status(of: first) == .queued)
    }

    /// Lets the next download begin and end.
    private static func pass(_ number: Int64, _ outcome: OfflineSchedule.Outcome, _ schedule: inout OfflineSchedule) {
        _ = schedule.handle(.downloadsChanged)
        #expect(schedule.handle(.found([download(number)])).contains(.start(download(number))))
        _ = schedule.handle(.ended(download(number), outcome))
        _ = schedule.handle(.found([]))
    }

    @Test("Behind eight without room the others are tried one a second, and of all of them a few each minute")
    func fullMedium() {
        var schedule = Self.started([])
        for number in 1...8 as ClosedRange<Int64> { Self.pass(number, .noSpace, &schedule) }
        #expect(schedule.gate.wait == nil && schedule.wait == .space)
        _ = schedule.handle(.downloadsChanged)
        let (small, next) = (Self.download(9), Self.download(10))
        #expect(
            schedule.handle(.found([small, next])) == [
                .send(.started(referenceId: "r9")), .start(small), .pace(nanoseconds: 1_000_000_000),
            ])
        #expect(schedule.handle(.downloadsChanged) == [])
        #expect(schedule.handle(.ended(small, .noSpace)) == [])
        #expect(schedule.handle(.paced) == [.find(limit: 12)])
        #expect(schedule.handle(.found([small, next])).contains(.start(next)))
        #expect(schedule.handle(.ended(next, .noSpace)) == [])
        _ = schedule.handle(.paced)
        _ = schedule.handle(.found([]))
        // The first eight, one after the other.
        #expect(schedule.handle(.spaceWaited) == [.waitForSpace, .find(limit: 13)])
        #expect(schedule.handle(.found([small, next, Self.download(1)])).contains(.start(Self.download(1))))
        #expect(schedule.status(of: small) == .waiting(.space))
        // Room for one may be room for all.
        _ = schedule.handle(.paced)
        _ = schedule.handle(.found([Self.download(1)]))
        _ = schedule.handle(.progress(Self.download(1).product, percent: 1))
        #expect(schedule.handle(.found([small])).contains(.start(small)))
    }
}
