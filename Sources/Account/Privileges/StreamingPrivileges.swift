import Network
import Platform

/// Connects to the service for its streaming privileges: carries out what `PrivilegesMachine` decides. A request for an
/// address has a thread for as long as it takes.
///
/// Thread: control, except where a declaration says otherwise. `@unchecked Sendable` is safe because only control uses
/// its mutable state; other threads only post to `loop`.
package final class StreamingPrivileges: @unchecked Sendable {
    private let loop: EventLoop
    private let service: PrivilegesService
    private let time: PrivilegesTime
    private let clock: any MonotonicClock
    private let jitter: () -> Double
    /// Identifies this program to the service while it runs.
    private let player = SystemRandomSource().uuid()
    private var machine = PrivilegesMachine()
    /// The user of the last request for an address.
    private var user: String?
    private let timer: any StartTimer
    private var discovery: CancellableThread?
    private var socket: (any OngoingSocket)?
    private var link = (isUp: false, isOfflineMode: false)
    /// Called with the name of the other device when it plays now.
    package var revoked: (String?) -> Void = { _ in }

    /// - Parameter clock: the time at which the user presses play; nil uses the system's clock.
    package convenience init(_ service: PrivilegesService, clock: TrustedClock?, loop: EventLoop) {
        self.init(loop: loop, service, PrivilegesTime(clock: clock), timer: LoopTimer(loop))
    }

    /// - Parameter jitter: returns a random number in 0…1.
    init(
        loop: EventLoop, _ service: PrivilegesService, _ time: PrivilegesTime, timer: any StartTimer,
        clock: any MonotonicClock = SystemMonotonicClock(),
        jitter: @escaping () -> Double = { Double(SystemRandomSource().bytes(1)[0]) / 255 }
    ) {
        self.loop = loop
        self.service = service
        self.time = time
        self.timer = timer
        self.clock = clock
        self.jitter = jitter
    }

    // MARK: Events

    /// The user has pressed play.
    package func pressed() { handle(.pressed) }

    /// A stream of the service should be heard now, or no longer.
    package func needChanged(to isNeeded: Bool) { handle(.needed(isNeeded)) }

    package func linkChanged(to kind: Link.Kind) {
        link.isUp = kind != .offline
        wayChanged()
    }

    package func offlineModeChanged(to isOn: Bool) {
        link.isOfflineMode = isOn
        wayChanged()
    }

    /// Another login may belong to another account, or be accepted where the last one was not.
    package func loginChanged() {
        let present = service.credentials.user(of: nil)
        let isSame = if let present, let user { present.utf8.elementsEqual(user.utf8) } else { false }
        if !isSame { handle(.loginChanged) }
    }

    private func wayChanged() { handle(.way(isFree: link.isUp && !link.isOfflineMode)) }

    /// Ends the connection. The last call.
    package func shutDown() {
        revoked = { _ in }
        handle(.way(isFree: false))
        timer.cancel()
        endDiscovery()
    }

    private func handle(_ event: PrivilegesMachine.Event) {
        loop.assertOnLoop()
        for effect in machine.handle(event, at: clock.now(), jitter: jitter()) { carryOut(effect) }
    }

    // MARK: Effects

    private func carryOut(_ effect: PrivilegesMachine.Effect) {
        switch effect {
        case .discover(let attempt):
            discover(attempt)
        case .connect(let url, let attempt):
            let connection = PrivilegesConnection { [self] report in
                loop.post { [self] in receive(report, attempt) }
            }
            socket = service.connect(url, into: connection)
        case .acquire(let pressedAt, let number):
            let age = (clock.now() - pressedAt) / 1_000_000
            socket?.send(
                PrivilegesMessage.userAction(
                    startedAt: time.milliseconds() - age, age: age, player: player, number: number))
        case .disconnect(let code):
            discovery?.cancel()
            socket?.close(code: code)
            socket = nil
        case .revoke(let otherDevice):
            revoked(otherDevice)
        case .setTimer(let time):
            guard let time else { return timer.cancel() }
            timer.start(after: max(0, time - clock.now())) { [self] in handle(.timer) }
        }
    }

    private func discover(_ attempt: Int) {
        user = service.credentials.user(of: nil)
        let former = discovery
        former?.cancel()
        discovery = nil
        do throws(SystemError) {
            discovery = try CancellableThread("privileges", priority: .normal) { [self] cancellation in
                former?.join()
                let answer = service.discover(cancellation)
                loop.post { [self] in handle(.discovered(answer, attempt: attempt)) }
            }
        } catch {
            handle(.discovered(.failed(retryAfter: nil), attempt: attempt))
        }
    }

    private func endDiscovery() {
        discovery?.cancel()
        discovery?.join()
        discovery = nil
    }

    private func receive(_ report: PrivilegesConnection.Report, _ attempt: Int) {
        switch report {
        case .opened:
            handle(.opened(attempt: attempt))
        case .text(let text):
            handle(.received(PrivilegesMessage(text), attempt: attempt))
        case .closed(let end):
            let retryAfter: Int64? = if case .refused(_, let seconds) = end { seconds } else { nil }
            handle(.closed(retryAfter: retryAfter, attempt: attempt))
        }
    }
}

/// The time of streaming privileges, in milliseconds since 1970. Any thread.
struct PrivilegesTime: Sendable {
    let clock: TrustedClock?

    /// The trusted time; the system's clock, which may be wrong, while no time was ever proved.
    func milliseconds() -> Int64 { clock?.read().milliseconds ?? SystemTime.clockMilliseconds() }
}

/// The sink of one connection.
///
/// Thread: network.
private final class PrivilegesConnection: WebSocketSink {
    enum Report {
        case opened
        case text(String)
        case closed(WebSocketEnd)
    }

    private let report: @Sendable (Report) -> Void

    init(_ report: @escaping @Sendable (Report) -> Void) { self.report = report }

    func opened() { report(.opened) }
    func received(_ text: String) { report(.text(text)) }
    func closed(_ end: WebSocketEnd) { report(.closed(end)) }
}
