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
    /// Identifies this program to the service while it runs.
    private let player = SystemRandomSource().uuid()
    private var machine = PrivilegesMachine()
    private let timer: any StartTimer
    private var discovery = PrivilegesDiscovery()
    private var socket: (any OngoingSocket)?
    private var link = (isUp: false, isOfflineMode: false)
    /// Called with the name of the other device when it plays now.
    package var revoked: (String?) -> Void = { _ in }

    /// - Parameter clock: the time at which the user presses play; nil uses the system's clock.
    package convenience init(_ service: PrivilegesService, clock: TrustedClock?, loop: EventLoop) {
        self.init(loop: loop, service, PrivilegesTime(trusted: clock), timer: LoopTimer(loop))
    }

    init(
        loop: EventLoop, _ service: PrivilegesService, _ time: PrivilegesTime, timer: any StartTimer
    ) {
        self.loop = loop
        self.service = service
        self.time = time
        self.timer = timer
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
        let isSame = if let present, let user = discovery.user { present.utf8.elementsEqual(user.utf8) } else { false }
        if !isSame { handle(.loginChanged) }
    }

    private func wayChanged() { handle(.way(isFree: link.isUp && !link.isOfflineMode)) }

    /// Ends the connection. The last call.
    package func shutDown() {
        revoked = { _ in }
        handle(.way(isFree: false))
        timer.cancel()
        discovery.end()
    }

    private func handle(_ event: PrivilegesMachine.Event) {
        loop.assertOnLoop()
        for effect in machine.handle(event, at: time.now(), jitter: time.jitter()) { carryOut(effect) }
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
            let age = (time.now() - pressedAt) / 1_000_000
            socket?.send(
                PrivilegesMessage.userAction(
                    startedAt: time.milliseconds() - age, age: age, player: player, number: number))
        case .disconnect(let code):
            discovery.cancel()
            socket?.close(code: code)
            socket = nil
        case .revoke(let otherDevice):
            revoked(otherDevice)
        case .setTimer(let end):
            guard let end else { return timer.cancel() }
            timer.start(after: max(0, end - time.now())) { [self] in handle(.timer) }
        }
    }

    private func discover(_ attempt: Int) {
        do throws(SystemError) {
            try discovery.begin(service) { [self] answer in
                loop.post { [self] in handle(.discovered(answer, attempt: attempt)) }
            }
        } catch {
            handle(.discovered(.failed(retryAfter: nil), attempt: attempt))
        }
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
