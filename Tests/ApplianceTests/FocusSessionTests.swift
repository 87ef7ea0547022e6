import ApplianceTestSupport
import OutputTestSupport
import QueueTestSupport
import Testing

@testable import Appliance

@Suite("The focus and the device (docs/playback.md, 14)")
struct FocusSessionTests {
    /// A session in a given state.
    private func session(
        _ focus: FocusLevel, _ power: PowerState = .active, _ streaming: StreamingState
    ) -> Session {
        // An open device was opened in a state that allows it.
        var session = FocusSession(focus: .full, power: .active)
        if streaming != .stopped { _ = session.begin() }
        if streaming == .ready { _ = session.handle(.started) }
        if streaming == .stopped { _ = session.handle(.focus(.none)) }
        for state in [PowerState.resigning, .suspended, .regaining] where power != .active {
            guard session.power != power else { break }
            _ = session.handle(.power(state))
            if streaming == .ready { _ = session.handle(.started) }
        }
        if streaming != .stopped { _ = session.handle(.focus(focus)) }
        return Session(session)
    }

    @Test(
        "Audio Stream Lifecycle Chart",
        arguments: [
            (FocusLevel.none, false, true), (.background, false, true), (.limited, true, false), (.full, true, false),
        ])
    func chart(level: FocusLevel, canOpen: Bool, shouldClose: Bool) {
        #expect(FocusSession.canOpen(level) == canOpen)
        #expect(FocusSession.shouldClose(level) == shouldClose)
        let closed = session(.none, .active, .stopped)
        #expect(closed.handle(.focus(level)) == (canOpen ? [.openDevice] : []))
        #expect(closed.streaming == (canOpen ? .starting : .stopped))
        for streaming in [StreamingState.starting, .ready] {
            let open = session(.full, .active, streaming)
            #expect(open.handle(.focus(level)) == (shouldClose ? [.closeDevice] : []))
            #expect(open.streaming == (shouldClose ? .stopped : streaming))
        }
    }

    @Test("Losing the focus closes the device in every power state", arguments: PowerState.allCases)
    func closing(power: PowerState) {
        for level in [FocusLevel.none, .background] {
            let open = session(.full, power, .ready)
            #expect(open.power == power)
            #expect(open.streaming == .ready)
            #expect(open.handle(.focus(level)) == [.closeDevice])
            #expect(open.streaming == .stopped)
        }
    }

    @Test(
        "Stopped moves to starting only with limited focus or more, on a board that is awake",
        arguments: [
            (PowerState.active, true), (.regaining, true), (.resigning, false), (.suspended, false),
        ])
    func opening(power: PowerState, opens: Bool) {
        for level in FocusLevel.allCases {
            let closed = Session(focus: .none, power: power)
            let may = opens && level >= .limited
            #expect(closed.handle(.focus(level)) == (may ? [.openDevice] : []))
            let begun = Session(focus: level, power: power)
            #expect(begun.begin() == (may ? [.openDevice] : []))
        }
    }

    @Test(
        "Starting moves to ready only if the device is still allowed, else to stopped",
        arguments: [
            (PowerState.active, StreamingState.ready), (.regaining, .ready), (.resigning, .stopped),
            (.suspended, .stopped),
        ])
    func starting(power: PowerState, expected: StreamingState) {
        let starting = session(.full, .active, .starting)
        #expect(starting.handle(.power(power)) == [])
        #expect(starting.streaming == .starting)
        #expect(starting.handle(.started) == (expected == .ready ? [] : [.closeDevice]))
        #expect(starting.streaming == expected)
        let late = session(.full, .active, .starting)
        late.handle(.focus(.background))
        #expect(late.handle(.started) == [], "a device that was closed meanwhile stays closed")
        #expect(late.streaming == .stopped)
    }

    @Test("Resigning and suspended leave an open device open")
    func resigning() {
        let open = session(.limited, .active, .ready)
        #expect(open.handle(.power(.resigning)) == [])
        #expect(open.handle(.power(.suspended)) == [])
        #expect(open.streaming == .ready)
    }

    @Test("Regaining reopens an open device, with limited focus or more", arguments: [FocusLevel.limited, .full])
    func regaining(level: FocusLevel) {
        let open = session(level, .suspended, .ready)
        #expect(open.handle(.power(.regaining)) == [.closeDevice, .openDevice])
        #expect(open.streaming == .starting)
        #expect(open.handle(.started) == [])
        #expect(open.handle(.power(.active)) == [], "once is enough")
        #expect(open.streaming == .ready)
        let hasty = session(level, .suspended, .ready)
        #expect(hasty.handle(.power(.active)) == [.closeDevice, .openDevice])
    }

    @Test("A device that could not be opened on a sleeping board is opened when it wakes up")
    func wakingUp() {
        let session = Session(focus: .full, power: .suspended)
        #expect(session.begin() == [])
        #expect(session.handle(.power(.regaining)) == [.openDevice])
        let unfocused = Session(focus: .background, power: .suspended)
        #expect(unfocused.handle(.power(.regaining)) == [])
    }

    @Test("Between limited and full nothing is interrupted; saying the same twice changes nothing")
    func noInterruption() {
        let open = session(.full, .active, .ready)
        let levels: [FocusLevel] = [.limited, .full, .full, .limited, .limited]
        #expect(levels.flatMap { open.handle(.focus($0)) } == [])
        #expect([.none, .none, .background].flatMap { open.handle(.focus($0)) } == [.closeDevice])
        #expect([.full, .full].flatMap { open.handle(.focus($0)) } == [.openDevice])
    }

    @Test("After any events the device is open only if that is allowed, and opened and closed in turn")
    func anyOrder() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var session = FocusSession()
            var isOpen = false
            var effects = session.begin()
            var history: [FocusSession.Event] = []
            for _ in 0..<40 {
                for effect in effects {
                    #expect(isOpen == (effect == .closeDevice), "\(history)")
                    isOpen.toggle()
                }
                #expect(isOpen == (session.streaming != .stopped))
                #expect(!isOpen || session.focus >= .limited, "\(history)")
                let event: FocusSession.Event =
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: .focus(FocusLevel.allCases.randomElement(using: &random)!)
                    case 1: .power(PowerState.allCases.randomElement(using: &random)!)
                    default: .started
                    }
                history.append(event)
                effects = session.handle(event)
            }
        }
    }

    @Test("A doorbell rings: the device is free meanwhile, and the music resumes at the same position")
    func doorbell() throws {
        let tracks = try Tracks()
        let fixture = try ConductorFixture()
        defer { fixture.shutDown() }
        var session = FocusSession()
        func notify(_ event: FocusSession.Event) {
            for effect in session.handle(event) {
                fixture.perform { effect == .openDevice ? $0.regain() : $0.release() }
            }
        }
        _ = session.begin()
        notify(.started)
        let products = try tracks.make("ab", frames: 4000)
        fixture.perform { try! $0.set(products, playing: true) }
        fixture.wait("its context") { $0.contains(.currentAnnounced) }
        fixture.play(1500)
        notify(.focus(.background))
        fixture.card.waitUntil("the device is free") { !$0.isOpen }
        notify(.focus(.full))
        fixture.card.playFreely()
        fixture.waitForEnd()
        #expect(fixture.card.heard == sound("ab"))
    }
}

/// A session that `#expect` may change.
private final class Session {
    private var session: FocusSession

    init(_ session: FocusSession) { self.session = session }
    convenience init(focus: FocusLevel, power: PowerState) { self.init(FocusSession(focus: focus, power: power)) }

    var power: PowerState { session.power }
    var streaming: StreamingState { session.streaming }
    func begin() -> [FocusSession.Effect] { session.begin() }
    @discardableResult func handle(_ event: FocusSession.Event) -> [FocusSession.Effect] { session.handle(event) }
}
