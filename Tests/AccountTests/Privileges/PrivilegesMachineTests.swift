import PlayerTestSupport
import Testing

@testable import Account
@testable import Player

/// The rules of docs/playback.md, 20, on the state machine alone.
@Suite("The state machine of streaming privileges")
struct PrivilegesMachineTests {
    private typealias Effect = PrivilegesMachine.Effect

    private static let second: Int64 = 1_000_000_000

    /// A machine with a clock, and without jitter.
    private struct Driven {
        var machine = PrivilegesMachine()
        /// Nanoseconds.
        var now: Int64 = 100 * second

        mutating func handle(_ event: PrivilegesMachine.Event) -> [Effect] {
            machine.handle(event, at: now, jitter: 0)
        }

        mutating func pass(seconds: Int64) { now += seconds * second }

        /// Presses play for a stream, with a free way.
        mutating func play() -> [Effect] {
            handle(.way(isFree: true)) + handle(.pressed) + handle(.needed(true))
        }

        /// Plays a stream over an open connection.
        mutating func open() {
            _ = play()
            _ = handle(.discovered(.address("wss://a"), attempt: 1))
            _ = handle(.opened(attempt: 1))
        }
    }

    @Test("The first play of a stream connects, and then takes the privileges")
    func firstPlay() {
        var driven = Driven()
        #expect(driven.handle(.way(isFree: true)).isEmpty)
        #expect(driven.handle(.pressed).isEmpty)
        let pressed = driven.now
        #expect(driven.handle(.needed(true)) == [.discover(attempt: 1)])
        driven.pass(seconds: 1)
        #expect(
            driven.handle(.discovered(.address("wss://a"), attempt: 1)) == [.connect(url: "wss://a", attempt: 1)])
        #expect(driven.handle(.opened(attempt: 1)) == [.setTimer(at: nil), .acquire(pressedAt: pressed, number: 1)])
    }

    @Test("Each further press takes them over the same connection, once")
    func laterPresses() {
        var driven = Driven()
        driven.open()
        driven.pass(seconds: 5)
        #expect(driven.handle(.pressed) == [.setTimer(at: nil), .acquire(pressedAt: driven.now, number: 2)])
        // Paused, and played again.
        _ = driven.handle(.needed(false))
        driven.pass(seconds: 5)
        #expect(driven.handle(.pressed).isEmpty)
        #expect(driven.handle(.needed(true)) == [.setTimer(at: nil), .acquire(pressedAt: driven.now, number: 3)])
    }

    @Test("A notification pauses a stream, with the name of the other device")
    func revocation() {
        var driven = Driven()
        driven.open()
        driven.pass(seconds: 5)
        let notification = PrivilegesMessage.revoked(otherDevice: "web", known: 1)
        #expect(driven.handle(.received(notification, attempt: 1)) == [.revoke(otherDevice: "web")])
    }

    @Test("A notification changes nothing while no stream plays")
    func notificationAtRest() {
        var driven = Driven()
        driven.open()
        _ = driven.handle(.needed(false))
        #expect(driven.handle(.received(.revoked(otherDevice: "web", known: nil), attempt: 1)).isEmpty)
    }

    @Test("A notification of a service that did not know the last press yet changes nothing")
    func crossing() {
        var driven = Driven()
        driven.open()
        for known in 0...1 as ClosedRange<Int64> {
            _ = driven.handle(.pressed)
            #expect(driven.handle(.received(.revoked(otherDevice: "web", known: known), attempt: 1)).isEmpty)
        }
        let later = PrivilegesMessage.revoked(otherDevice: "web", known: 3)
        #expect(driven.handle(.received(later, attempt: 1)) == [.revoke(otherDevice: "web")])
    }

    @Test("Playback that is resumed after a restart counts as pressed a day ago")
    func resumed() {
        var driven = Driven()
        _ = driven.handle(.way(isFree: true))
        _ = driven.handle(.needed(true))
        _ = driven.handle(.discovered(.address("wss://a"), attempt: 1))
        let longAgo = driven.now - 86_400 * Self.second
        #expect(driven.handle(.opened(attempt: 1)) == [.setTimer(at: nil), .acquire(pressedAt: longAgo, number: 1)])
    }

    @Test("A press ends a rest after a failure, at most every two seconds, but not the service's own")
    func pressDuringRest() {
        var driven = Driven()
        _ = driven.play()
        let due = driven.now + Self.second
        _ = driven.handle(.discovered(.failed(retryAfter: nil), attempt: 1))
        #expect(driven.handle(.pressed) == [.setTimer(at: due)])
        driven.pass(seconds: 2)
        #expect(driven.handle(.pressed) == [.discover(attempt: 2)])
        _ = driven.handle(.discovered(.failed(retryAfter: 60), attempt: 2))
        driven.pass(seconds: 2)
        #expect(driven.handle(.pressed) == [.setTimer(at: driven.now + 58 * Self.second)])
    }

    @Test("Another account connects again, and a refused login is replaced; an idle player does nothing")
    func otherLogin() {
        var driven = Driven()
        #expect(driven.handle(.loginChanged).isEmpty)
        driven.open()
        let effects: [Effect] = [.setTimer(at: nil), .disconnect(code: 1000), .discover(attempt: 3)]
        #expect(driven.handle(.loginChanged) == effects)
        _ = driven.handle(.discovered(.notAuthorised, attempt: 3))
        #expect(driven.handle(.loginChanged) == [.discover(attempt: 4)])
    }

    @Test("Offline mode or a lost link ends the connection, and a way back makes another one while a stream plays")
    func wayLost() {
        var driven = Driven()
        driven.open()
        let pressed = driven.now
        #expect(driven.handle(.way(isFree: false)) == [.setTimer(at: nil), .disconnect(code: 1000)])
        #expect(driven.handle(.closed(retryAfter: nil, attempt: 1)).isEmpty)
        driven.pass(seconds: 5)
        #expect(driven.handle(.way(isFree: true)) == [.discover(attempt: 3)])
        _ = driven.handle(.discovered(.address("wss://b"), attempt: 3))
        // The press counts, and not the time of the connection.
        #expect(driven.handle(.opened(attempt: 3)) == [.setTimer(at: nil), .acquire(pressedAt: pressed, number: 2)])
    }

    @Test("Without a way nothing is requested")
    func noWay() {
        var driven = Driven()
        #expect(driven.handle(.pressed).isEmpty)
        #expect(driven.handle(.needed(true)).isEmpty)
        #expect(driven.handle(.way(isFree: true)) == [.discover(attempt: 1)])
    }

    @Test("RECONNECT makes another connection at once, and soon after the last one only after a delay")
    func reconnection() {
        var driven = Driven()
        driven.open()
        driven.pass(seconds: 60)
        #expect(
            driven.handle(.received(.reconnect, attempt: 1))
                == [.setTimer(at: nil), .disconnect(code: 1001), .discover(attempt: 3)])
        _ = driven.handle(.discovered(.address("wss://b"), attempt: 3))
        _ = driven.handle(.opened(attempt: 3))
        let due = driven.now + Self.second
        #expect(
            driven.handle(.received(.reconnect, attempt: 3))
                == [.setTimer(at: nil), .disconnect(code: 1001), .setTimer(at: due)])
    }

    @Test("A refused login is not tried again before the next press; playback is free meanwhile")
    func notAuthorised() {
        var driven = Driven()
        _ = driven.play()
        #expect(driven.handle(.discovered(.notAuthorised, attempt: 1)).isEmpty)
        #expect(driven.handle(.way(isFree: false)).isEmpty)
        #expect(driven.handle(.way(isFree: true)).isEmpty)
        #expect(driven.handle(.timer).isEmpty)
        _ = driven.handle(.needed(false))
        #expect(driven.handle(.needed(true)).isEmpty)
        _ = driven.handle(.needed(false))
        #expect(driven.handle(.pressed).isEmpty)
        #expect(driven.handle(.needed(true)) == [.discover(attempt: 2)])
    }

    @Test("A press while a stream plays tries a refused login again")
    func pressAfterRefusal() {
        var driven = Driven()
        _ = driven.play()
        _ = driven.handle(.discovered(.notAuthorised, attempt: 1))
        #expect(driven.handle(.pressed) == [.discover(attempt: 2)])
    }

    @Test("A service without privileges is asked again after an hour")
    func unknownAddress() {
        var driven = Driven()
        _ = driven.play()
        let hour = driven.now + 3600 * Self.second
        #expect(driven.handle(.discovered(.unknown, attempt: 1)) == [.setTimer(at: hour)])
        #expect(driven.handle(.pressed) == [.setTimer(at: hour)])
        driven.pass(seconds: 3600)
        #expect(driven.handle(.timer) == [.discover(attempt: 2)])
    }

    @Test("Failures in a row rest for 1, 2, 4 … 60 s without end, by up to a fifth less")
    func backOff() {
        var driven = Driven()
        _ = driven.play()
        for (attempt, seconds) in [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].enumerated() {
            let due = driven.now + Int64(seconds) * Self.second
            let failure = PrivilegesMachine.Event.discovered(.failed(retryAfter: nil), attempt: attempt + 1)
            let effects =
                attempt == 2
                ? driven.machine.handle(failure, at: driven.now, jitter: 1) : driven.handle(failure)
            #expect(effects == [.setTimer(at: attempt == 2 ? driven.now + 3_200_000_000 : due)])
            driven.pass(seconds: Int64(seconds))
            #expect(driven.handle(.timer) == [.discover(attempt: attempt + 2)])
        }
    }

    @Test("The service's Retry-After is a minimum, of an hour at most")
    func retryAfter() {
        var driven = Driven()
        _ = driven.play()
        #expect(
            driven.handle(.discovered(.failed(retryAfter: 90), attempt: 1))
                == [.setTimer(at: driven.now + 90 * Self.second)])
        driven.pass(seconds: 90)
        _ = driven.handle(.timer)
        _ = driven.handle(.discovered(.address("wss://a"), attempt: 2))
        #expect(
            driven.handle(.closed(retryAfter: 100_000, attempt: 2)) == [.setTimer(at: driven.now + 3600 * Self.second)])
    }

    @Test("A connection of ten seconds resets the delays; a shorter one does not, whatever it says")
    func resetOfDelays() {
        var driven = Driven()
        driven.open()
        var expected: [Int64] = []
        func close(_ attempt: Int, after seconds: Int64, message: Bool = false) -> [Effect] {
            driven.pass(seconds: seconds)
            if message { _ = driven.handle(.received(.other, attempt: attempt)) }
            return driven.handle(.closed(retryAfter: nil, attempt: attempt))
        }
        func reopen(_ attempt: Int) {
            driven.pass(seconds: 60)
            expected.append(driven.now)
            #expect(driven.handle(.timer) == [.discover(attempt: attempt)])
            _ = driven.handle(.discovered(.address("wss://a"), attempt: attempt))
            _ = driven.handle(.opened(attempt: attempt))
        }
        #expect(close(1, after: 1) == [.setTimer(at: driven.now + Self.second)])
        reopen(2)
        #expect(close(2, after: 1) == [.setTimer(at: driven.now + 2 * Self.second)])
        reopen(3)
        #expect(close(3, after: 10) == [.setTimer(at: driven.now + Self.second)])
        reopen(4)
        #expect(close(4, after: 1) == [.setTimer(at: driven.now + 2 * Self.second)])
        reopen(5)
        #expect(close(5, after: 1, message: true) == [.setTimer(at: driven.now + 4 * Self.second)])
    }

    @Test("A new link ends a rest at once")
    func newLink() {
        var driven = Driven()
        _ = driven.play()
        _ = driven.handle(.discovered(.failed(retryAfter: nil), attempt: 1))
        #expect(driven.handle(.way(isFree: false)).isEmpty)
        #expect(driven.handle(.way(isFree: true)) == [.setTimer(at: nil), .discover(attempt: 2)])
    }

    @Test("Nothing wakes the player while nothing is streamed: a rest has no timer, and is kept")
    func restWithoutNeed() {
        var driven = Driven()
        _ = driven.play()
        let due = driven.now + Self.second
        _ = driven.handle(.discovered(.failed(retryAfter: nil), attempt: 1))
        #expect(driven.handle(.needed(false)) == [.setTimer(at: nil)])
        #expect(driven.handle(.needed(true)) == [.setTimer(at: due)])
        driven.pass(seconds: 1)
        #expect(driven.handle(.timer) == [.discover(attempt: 2)])
    }

    @Test("A connection that is not needed closes after five minutes")
    func idleConnection() {
        var driven = Driven()
        driven.open()
        let due = driven.now + 300 * Self.second
        #expect(driven.handle(.needed(false)) == [.setTimer(at: due)])
        driven.pass(seconds: 300)
        #expect(driven.handle(.timer) == [.setTimer(at: nil), .disconnect(code: 1000)])
        #expect(driven.handle(.pressed).isEmpty)
        #expect(driven.handle(.needed(true)) == [.discover(attempt: 3)])
    }

    @Test("Reports of an earlier attempt change nothing")
    func lateReports() {
        var driven = Driven()
        driven.open()
        _ = driven.handle(.way(isFree: false))
        _ = driven.handle(.way(isFree: true))
        #expect(driven.handle(.received(.revoked(otherDevice: "web", known: nil), attempt: 1)).isEmpty)
        #expect(driven.handle(.received(.reconnect, attempt: 1)).isEmpty)
        #expect(driven.handle(.closed(retryAfter: nil, attempt: 1)).isEmpty)
        #expect(driven.handle(.discovered(.address("wss://a"), attempt: 1)).isEmpty)
        #expect(driven.handle(.opened(attempt: 1)).isEmpty)
    }
}
