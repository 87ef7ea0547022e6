@testable import Board
import BoardTestSupport
import Platform
import TestSupport
import Testing

/// A board on an event loop whose clock and lines a test drives.
final class DrivenBoard {
    let clock = ManualClock(milliseconds(1_000_000))
    let loop: EventLoop
    let lines = DrivenLines()
    let profile: BoardProfile
    private(set) var events: [BoardEvent] = []

    init(_ sections: String) throws {
        loop = try EventLoop(drivenBy: clock)
        let text = "[board]\nname = test\nchip = c\n[sound]\ncard = HiFi\n" + sections
        profile = try BoardProfile(parsing: Array(text.utf8), path: "test")
    }

    /// The events since the last call.
    func takeEvents() -> [BoardEvent] {
        defer { events = [] }
        return events
    }

    func deliver(_ event: BoardEvent) { events.append(event) }

    /// Runs the loop's pending work. Twice: once for descriptors, once for the timers that they set.
    func turn() {
        for _ in 0..<2 {
            loop.clockAdvanced()
            loop.stop()
            loop.run()
        }
    }

    /// Millisecond by millisecond, so that no deadline is met late.
    func pass(_ count: Int64) {
        for _ in 0..<count {
            clock.advance(by: milliseconds(1))
            loop.clockAdvanced()
        }
        turn()
    }

    /// A jump of time, between separate events.
    func jump(_ seconds: Int64) {
        clock.advance(by: seconds * 1_000_000_000)
        turn()
    }

    func edge(_ line: Int, _ isActive: Bool) {
        lines.inputs["line \(line) of c"]?.edge(isActive, at: clock.now())
        turn()
    }

    var actions: [ButtonAction] {
        takeEvents().compactMap { if case .action(let action, _, _) = $0 { action } else { nil } }
    }
}

@Suite("Buttons on the event loop")
struct LiveButtonTests {
    func start(_ sections: String, prepare: (DrivenLines) -> Void = { _ in }) throws -> (DrivenBoard, Buttons) {
        let board = try DrivenBoard(sections)
        prepare(board.lines)
        let buttons = Buttons(
            board.profile, lines: board.lines, loop: board.loop, clock: board.clock, deliver: board.deliver)
        buttons.start()
        return (board, buttons)
    }

    let two = "[button a]\nline = 1\npress = toggle\nlong-press = stop\n[button b]\nline = 2\npress = volume-up\n"

    @Test("the kernel is asked to wait for a button to be quiet, and not for an encoder")
    func debounce() throws {
        let (board, buttons) = try start(two + "debounce = 7 ms\n[encoder volume]\nline-a = 3\nline-b = 4\n")
        #expect(board.lines.debounces == ["line 1 of c": 20, "line 2 of c": 7, "line 3 of c": 0, "line 4 of c": 0])
        buttons.stop()
    }

    @Test("edges become actions, and every event between is reported")
    func actions() throws {
        let (board, buttons) = try start(two)
        #expect(board.takeEvents() == [.ready(subject: "button a"), .ready(subject: "button b")])
        let pressed = board.clock.now()
        board.edge(2, true)
        #expect(
            board.takeEvents() == [
                .edge(name: "b", isActive: true, time: pressed), .gesture(name: "b", .press),
                .action(.volumeUp, name: "b", time: pressed),
            ])
        board.jump(1)
        #expect(board.actions == [.volumeUp])
        board.edge(2, false)
        board.edge(1, true)
        board.jump(2)
        #expect(board.actions == [.stop])
        board.edge(1, false)
        board.jump(1)
        #expect(board.actions == [])
        buttons.stop()
    }

    @Test("an edge that waits while its deadline passes is looked at first")
    func edgeBeforeDeadline() throws {
        let (board, buttons) = try start(two)
        board.edge(1, true)
        board.pass(100)
        let input = try #require(board.lines.inputs["line 1 of c"])
        // Released after 200 ms; the loop was busy and handles it only after the time of a long press.
        input.edge(false, at: board.clock.now() + milliseconds(100))
        board.jump(2)
        #expect(board.actions == [.toggle])
        buttons.stop()
    }

    @Test("a release that the kernel dropped is found when the contact is quiet")
    func droppedEdge() throws {
        let (board, buttons) = try start(two)
        board.edge(2, true)
        board.lines.inputs["line 2 of c"]?.dropEdge(false)
        board.jump(10)
        #expect(board.actions == [.volumeUp])
        buttons.stop()
    }

    @Test("a timestamp of another clock counts as now")
    func foreignTimestamp() throws {
        let (board, buttons) = try start(two)
        let input = try #require(board.lines.inputs["line 1 of c"])
        input.edge(true, at: 1_700_000_000_000_000_000)
        board.turn()
        board.jump(1)
        #expect(board.actions == [.stop])
        buttons.stop()
    }

    @Test("a stuck line is reported once and the other button works")
    func stuck() throws {
        let (board, buttons) = try start(two) { $0.initiallyActive = ["line 1 of c"] }
        #expect(
            board.takeEvents() == [
                .ready(subject: "button a"), .gesture(name: "a", .stuck), .ready(subject: "button b"),
            ])
        board.jump(1000)
        #expect(board.takeEvents() == [])
        board.edge(2, true)
        #expect(board.actions == [.volumeUp])
        buttons.stop()
    }

    @Test("a line that cannot be opened is reported once a reason, and retried after 1, 2, 4, 8, 16, 30, 30 s")
    func retries() throws {
        let line = LineReference(chip: "c", line: .offset(1))
        let missing = LineError.chipMissing(line, present: [])
        let taken = LineError.lineTaken(line, by: "other")
        let (board, buttons) = try start(two) { $0.errors["line 1 of c"] = missing }
        #expect(board.takeEvents() == [.unavailable(subject: "button a", missing), .ready(subject: "button b")])
        func attempts() -> Int { board.lines.attempts.count { $0 == "line 1 of c" } }
        for (index, delay) in [1, 2, 4, 8, 16, 30].enumerated() {
            #expect(attempts() == index + 1)
            board.jump(Int64(delay) - 1)
            #expect(attempts() == index + 1)
            board.jump(1)
        }
        #expect(board.takeEvents() == [])
        board.lines.errors["line 1 of c"] = taken
        board.jump(30)
        #expect(board.takeEvents() == [.unavailable(subject: "button a", taken)])
        board.lines.errors = [:]
        board.jump(30)
        #expect(board.takeEvents() == [.ready(subject: "button a")])
        board.edge(1, true)
        board.pass(50)
        board.edge(1, false)
        #expect(board.actions == [.toggle])
        buttons.stop()
    }

    @Test("a line that is lost is requested again, and a press that was under way is forgotten")
    func lost() throws {
        let (board, buttons) = try start(two)
        board.edge(1, true)
        _ = board.takeEvents()
        board.lines.inputs["line 1 of c"]?.lose()
        board.turn()
        let line = LineReference(chip: "c", line: .offset(1))
        #expect(
            board.takeEvents() == [
                .unavailable(subject: "button a", .failed(line, operation: "read edges", code: 19))
            ])
        board.jump(5)
        #expect(board.takeEvents() == [.ready(subject: "button a")])
        buttons.stop()
    }

    @Test("after a stop nothing comes, also when it is stopped by an action")
    func stop() throws {
        let board = try DrivenBoard(two)
        var buttons: Buttons?
        var actions = 0
        buttons = Buttons(board.profile, lines: board.lines, loop: board.loop, clock: board.clock) {
            guard case .action = $0 else { return }
            actions += 1
            buttons?.stop()
        }
        buttons?.start()
        board.edge(2, true)
        board.jump(3)
        board.edge(1, true)
        board.jump(3)
        #expect(actions == 1)
        buttons = nil
    }

    @Test("an encoder's contacts are put in order by their timestamps")
    func encoder() throws {
        let (board, buttons) = try start("[encoder volume]\nline-a = 1\nline-b = 2\n")
        let a = try #require(board.lines.inputs["line 1 of c"])
        let b = try #require(board.lines.inputs["line 2 of c"])
        func turn(_ first: DrivenInput, _ second: DrivenInput) {
            let now = board.clock.now()
            // The edges of both contacts must be handled in the order of their times.
            first.edge(true, at: now)
            first.edge(false, at: now + 2000)
            second.edge(true, at: now + 1000)
            second.edge(false, at: now + 3000)
            board.clock.advance(by: 4000)
            for _ in 0..<4 { board.turn() }
        }
        turn(a, b)
        #expect(board.actions == [.volumeUp])
        turn(b, a)
        #expect(board.actions == [.volumeDown])
        buttons.stop()
    }
}

@Suite("Lights and the amplifier on the event loop")
struct LiveOutputTests {
    @Test("lights start dark, blink, and are dark when they are released")
    func lights() throws {
        let board = try DrivenBoard(
            """
            [light green]
            line = 1
            playing = on
            stalled = slow
            [light red]
            line = 2
            error = on
            """)
        let lights = Lights(
            board.profile, lines: board.lines, loop: board.loop, clock: board.clock, deliver: board.deliver)
        lights.start()
        lights.show([.playing])
        lights.show([.playing, .stalled])
        for _ in 0..<3 { board.jump(1) }
        lights.show([.playing, .error])
        board.jump(100)
        lights.stop()
        #expect(board.lines.outputs["line 1 of c"] == [false, true, false, true, false, true, false])
        #expect(board.lines.outputs["line 2 of c"] == [false, true, false])
        #expect(board.takeEvents() == [.ready(subject: "light green"), .ready(subject: "light red")])
    }

    @Test("an output that fails while lights change leaves none of them in an old state")
    func failingLight() throws {
        let board = try DrivenBoard(
            "[light a]\nline = 1\nplaying = on\n[light b]\nline = 2\nplaying = on\n[light c]\nline = 3\nerror = on\n")
        var lights: Lights!
        lights = Lights(board.profile, lines: board.lines, loop: board.loop, clock: board.clock) { event in
            // As the daemon does it: the failure is a problem, and a problem is shown.
            if case .unavailable = event { lights.show([.error]) }
        }
        lights.start()
        board.lines.errors["line 1 of c"] = .failed(
            LineReference(chip: "c", line: .offset(1)), operation: "set", code: 5)
        lights.show([.playing])
        #expect(board.lines.outputs["line 2 of c"]?.last == false, "playing is over")
        #expect(board.lines.outputs["line 3 of c"]?.last == true)
        lights.stop()
    }

    @Test("a light that is available late shows the current conditions")
    func lateLight() throws {
        let board = try DrivenBoard("[light green]\nline = 1\nplaying = on\n")
        let taken = LineError.lineTaken(LineReference(chip: "c", line: .offset(1)), by: nil)
        board.lines.errors["line 1 of c"] = taken
        let lights = Lights(
            board.profile, lines: board.lines, loop: board.loop, clock: board.clock, deliver: board.deliver)
        lights.start()
        lights.show([.playing])
        board.lines.errors = [:]
        board.jump(1)
        #expect(board.lines.outputs["line 1 of c"] == [true])
        #expect(board.takeEvents() == [.unavailable(subject: "light green", taken), .ready(subject: "light green")])
        lights.stop()
    }

    @Test(
        "the amplifier is muted around the device's start and stop, with its line either way round",
        arguments: [
            ("mute", [true, false, true]), ("enable", [false, true, false]),
        ])
    func amplifier(role: String, levels: [Bool]) throws {
        let board = try DrivenBoard(
            """
            [amplifier]
            line = 4
            role = \(role)
            mute-before-start = 10 ms
            unmute-after-start = 20 ms
            mute-before-stop = 30 ms
            """)
        var steps: [Amplifier.DeviceStep] = []
        let amplifier = Amplifier(
            try #require(board.profile.amplifier), lines: board.lines, loop: board.loop, clock: board.clock,
            carryOut: { steps.append($0) }, deliver: board.deliver)
        amplifier.start()
        amplifier.wantDevice()
        #expect(steps == [])
        board.pass(10)
        #expect(steps == [.start])
        amplifier.deviceStarted()
        #expect(board.lines.outputs["line 4 of c"]?.count == 1)
        board.pass(20)
        #expect(board.lines.outputs["line 4 of c"]?.count == 2)
        amplifier.releaseDevice()
        #expect(board.lines.outputs["line 4 of c"] == levels)
        #expect(steps == [.start])
        board.pass(30)
        #expect(steps == [.start, .stop])
        amplifier.stop()
        #expect(board.lines.outputs["line 4 of c"] == levels)
    }

    @Test("a line that is slow to set is muted for the whole time all the same")
    func slowLine() throws {
        let board = try DrivenBoard(
            """
            [amplifier]
            line = 4
            role = mute
            mute-before-start = 10 ms
            unmute-after-start = 0 ms
            mute-before-stop = 30 ms
            """)
        var steps: [Amplifier.DeviceStep] = []
        board.lines.whileSetting = { board.clock.advance(by: milliseconds(7)) }
        let amplifier = Amplifier(
            try #require(board.profile.amplifier), lines: board.lines, loop: board.loop, clock: board.clock,
            carryOut: { steps.append($0) }, deliver: board.deliver)
        amplifier.start()
        amplifier.wantDevice()
        board.pass(9)
        #expect(steps == [])
        board.pass(1)
        #expect(steps == [.start])
        amplifier.deviceStarted()
        // Muted again, for the next start as well.
        amplifier.releaseDevice()
        board.pass(29)
        #expect(steps == [.start])
        board.pass(1)
        #expect(steps == [.start, .stop])
        amplifier.wantDevice()
        amplifier.deviceStarted()
        amplifier.restartDevice()
        board.pass(29)
        #expect(steps == [.start, .stop, .start])
        board.pass(1)
        #expect(steps == [.start, .stop, .start, .start])
        amplifier.stop()
        board.lines.whileSetting = {}
    }

    @Test("an amplifier without its line does not keep the device from playing")
    func noAmplifier() throws {
        let board = try DrivenBoard("[amplifier]\nline = 4\nrole = mute\n")
        board.lines.errors["line 4 of c"] = .chipMissing(LineReference(chip: "c", line: .offset(4)), present: [])
        var steps: [Amplifier.DeviceStep] = []
        let amplifier = Amplifier(
            try #require(board.profile.amplifier), lines: board.lines, loop: board.loop, clock: board.clock,
            carryOut: { steps.append($0) }, deliver: board.deliver)
        amplifier.start()
        amplifier.wantDevice()
        amplifier.deviceStarted()
        board.turn()
        amplifier.releaseDevice()
        #expect(steps == [.start, .stop])
        amplifier.stop()
    }
}
