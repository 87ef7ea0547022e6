import Network

/// Decides when the player connects to the service for its streaming privileges, and what follows from the service's
/// messages. Without a clock, randomness and I/O: events in, effects out (docs/playback.md,
/// 20; docs/decisions/streaming-privileges.md).
///
///     for effect in machine.handle(.needed(true), at: clock.now(), jitter: random) { carryOut(effect) }
struct PrivilegesMachine {
    enum Event: Equatable, Sendable {
        /// The user has pressed play.
        case pressed
        /// Another account is logged in.
        case loginChanged
        /// Whether a stream of the service should be heard now.
        case needed(Bool)
        /// Whether requests can succeed: there is a link, and no offline mode.
        case way(isFree: Bool)
        /// The answer to the request for an address.
        case discovered(PrivilegesService.Answer, attempt: Int)
        case opened(attempt: Int)
        case received(PrivilegesMessage, attempt: Int)
        /// The connection has ended, or could not be made.
        /// - Parameter retryAfter: the time that the service asks for, in seconds.
        case closed(retryAfter: Int64?, attempt: Int)
        /// The time of the last `setTimer`.
        case timer
    }

    enum Effect: Equatable {
        /// Request the address of the connection. The answer has the number of the attempt.
        case discover(attempt: Int)
        case connect(url: String, attempt: Int)
        /// Send that the user has pressed play at this time of the monotonic clock, in nanoseconds. `number` counts the
        /// messages.
        case acquire(pressedAt: Int64, number: Int64)
        /// End the present attempt or connection with this code of RFC 6455.
        case disconnect(code: UInt16)
        /// Pause: another device plays.
        case revoke(otherDevice: String?)
        /// Report `.timer` at this time of the monotonic clock, in nanoseconds. It replaces an earlier one; nil cancels
        /// it.
        case setTimer(at: Int64?)
    }

    private enum State: Equatable {
        /// Without a connection, and without an attempt.
        case idle
        case discovering
        case connecting
        case open(since: Int64)
        /// The next attempt is not made earlier; a press may end a rest after a failure (`isShort`).
        case resting(until: Int64, isShort: Bool)
        /// The service has refused the login. Playback is free.
        case refused
    }

    /// The delay after the first failure, in nanoseconds. It doubles with each further one.
    private static let firstDelay: Int64 = 1_000_000_000
    private static let longestDelay: Int64 = 60_000_000_000
    /// The longest accepted `Retry-After`, and the rest after a service without privileges, in nanoseconds.
    static let longRest: Int64 = 3_600_000_000_000
    /// The shortest time between two attempts that presses have made, in nanoseconds.
    private static let pressInterval: Int64 = 2_000_000_000
    /// The age of a press that is not known: playback was resumed after a restart. In nanoseconds.
    static let unknownAge: Int64 = 86_400_000_000_000
    /// The duration of a connection after which its end does not count as a failure, in nanoseconds.
    private static let usefulTime: Int64 = 10_000_000_000
    /// How long a connection stays when nothing is streamed, in nanoseconds.
    static let idleTime: Int64 = 300_000_000_000
    static let goingAway: UInt16 = 1001
    static let normalClosure: UInt16 = 1000

    private var state = State.idle
    private var isNeeded = false
    private var isFree = false
    /// The time at which the user has pressed play; nil before.
    private var pressedAt: Int64?
    /// The number of the last `acquire`.
    private var acquisitions: Int64 = 0
    /// The time of the last attempt.
    private var attemptedAt: Int64 = 0
    /// Counts the attempts, so that a late answer is recognised.
    private var attempt = 0
    /// The failures in a row.
    private var failures = 0

    /// - Parameters:
    ///   - now: the time of the monotonic clock, in nanoseconds.
    ///   - jitter: a random number in 0…1.
    mutating func handle(_ event: Event, at now: Int64, jitter: Double) -> [Effect] {
        switch event {
        case .pressed:
            pressedAt = now
            if endsRest(at: now) { state = .idle }
            return isNeeded ? acquire(at: now) : []
        case .loginChanged:
            return loginChanged(at: now)
        case .needed(let needed):
            guard needed != isNeeded else { return [] }
            isNeeded = needed
            return needed ? acquire(at: now) : becomeUnneeded(at: now)
        case .way(let free):
            return wayChanged(isFree: free, at: now)
        case .discovered(let answer, attempt) where state == .discovering:
            return discovered(answer, at: now, jitter)
        case .opened(attempt) where state == .connecting:
            state = .open(since: now)
            return isNeeded ? acquire(at: now) : becomeUnneeded(at: now)
        case .received(let message, attempt):
            guard case .open(let since) = state else { return [] }
            return received(message, since: since, at: now, jitter)
        case .closed(let retryAfter, attempt):
            return closed(retryAfter: retryAfter, at: now, jitter)
        case .timer:
            return timeElapsed(at: now)
        case .discovered, .opened, .received, .closed:
            return []
        }
    }

    /// Whether a press makes an attempt at once.
    private func endsRest(at now: Int64) -> Bool {
        switch state {
        case .refused: true
        case .resting(_, isShort: true): now - attemptedAt >= Self.pressInterval
        case .idle, .discovering, .connecting, .open, .resting: false
        }
    }

    /// Takes the privileges, over a new connection if there is none.
    private mutating func acquire(at now: Int64) -> [Effect] {
        switch state {
        case .idle: return discover(at: now)
        case .discovering, .connecting, .refused: return []
        case .resting(let time, _): return [.setTimer(at: time)]
        case .open:
            acquisitions += 1
            let pressedAt = pressedAt ?? now - Self.unknownAge
            return [.setTimer(at: nil), .acquire(pressedAt: pressedAt, number: acquisitions)]
        }
    }

    private mutating func discover(at now: Int64) -> [Effect] {
        guard isFree, isNeeded else {
            state = .idle
            return []
        }
        state = .discovering
        attempt += 1
        attemptedAt = now
        return [.discover(attempt: attempt)]
    }

    private mutating func loginChanged(at now: Int64) -> [Effect] {
        switch state {
        case .idle, .resting: return []
        case .refused: return discover(at: now)
        case .discovering, .connecting, .open: return disconnect(Self.normalClosure) + discover(at: now)
        }
    }

    private func becomeUnneeded(at now: Int64) -> [Effect] {
        switch state {
        case .open: [.setTimer(at: now + Self.idleTime)]
        // The time of the rest is remembered.
        case .resting: [.setTimer(at: nil)]
        case .idle, .discovering, .connecting, .refused: []
        }
    }

    private mutating func wayChanged(isFree free: Bool, at now: Int64) -> [Effect] {
        guard free != isFree else { return [] }
        isFree = free
        switch state {
        case .idle, .refused:
            return state == .idle ? discover(at: now) : []
        case .resting:
            // Failures on the former link say nothing about the new one.
            guard free else { return [] }
            failures = 0
            state = .idle
            return [.setTimer(at: nil)] + discover(at: now)
        case .discovering, .connecting, .open:
            guard !free else { return [] }
            state = .idle
            return disconnect(Self.normalClosure)
        }
    }

    /// Ends the attempt: its later reports are ignored.
    private mutating func disconnect(_ code: UInt16) -> [Effect] {
        attempt += 1
        return [.setTimer(at: nil), .disconnect(code: code)]
    }

    private mutating func discovered(_ answer: PrivilegesService.Answer, at now: Int64, _ jitter: Double) -> [Effect] {
        switch answer {
        case .address(let url):
            state = .connecting
            return [.connect(url: url, attempt: attempt)]
        case .notAuthorised:
            state = .refused
            return []
        case .unknown:
            return rest(until: now + Self.longRest, isShort: false)
        case .failed(let retryAfter):
            return fail(retryAfter: retryAfter, at: now, jitter)
        }
    }

    private mutating func received(
        _ message: PrivilegesMessage, since: Int64, at now: Int64, _ jitter: Double
    ) -> [Effect] {
        switch message {
        case .revoked(let otherDevice, let known):
            failures = 0
            // The service did not know the last request of this device yet, and decides once it does.
            guard isNeeded, known ?? .max >= acquisitions else { return [] }
            return [.revoke(otherDevice: otherDevice)]
        case .reconnect:
            let effects = disconnect(Self.goingAway)
            state = .idle
            // A service that requests it again and again must not be asked without a pause.
            guard now - since >= Self.usefulTime else { return effects + fail(retryAfter: nil, at: now, jitter) }
            return effects + discover(at: now)
        case .other:
            return []
        }
    }

    private mutating func closed(retryAfter: Int64?, at now: Int64, _ jitter: Double) -> [Effect] {
        switch state {
        case .connecting: return fail(retryAfter: retryAfter, at: now, jitter)
        case .open(let since):
            if now - since >= Self.usefulTime { failures = 0 }
            return fail(retryAfter: retryAfter, at: now, jitter)
        case .idle, .discovering, .resting, .refused: return []
        }
    }

    private mutating func fail(retryAfter: Int64?, at now: Int64, _ jitter: Double) -> [Effect] {
        let delay = min(Self.firstDelay << Int64(min(failures, 6)), Self.longestDelay)
        failures = min(failures + 1, 32)
        let jittered = Int64(Double(delay) * (1 - 0.2 * jitter))
        let asked = min(max(0, retryAfter ?? 0), 3600) * 1_000_000_000
        return rest(until: now + max(jittered, asked), isShort: asked == 0)
    }

    private mutating func rest(until time: Int64, isShort: Bool) -> [Effect] {
        state = .resting(until: time, isShort: isShort)
        return [.setTimer(at: isNeeded ? time : nil)]
    }

    private mutating func timeElapsed(at now: Int64) -> [Effect] {
        switch state {
        case .resting(let time, _) where now >= time:
            state = .idle
            return discover(at: now)
        case .open where !isNeeded:
            state = .idle
            return disconnect(Self.normalClosure)
        case .idle, .discovering, .connecting, .open, .resting, .refused:
            return []
        }
    }
}
