@testable import Board
import Testing

/// Milliseconds as nanoseconds.
func milliseconds(_ count: Int64) -> Int64 { count * 1_000_000 }

@Suite("A button's edges become gestures")
struct ButtonTests {
    typealias Gestures = ButtonStateMachine.Gestures

    /// The steps of a contact; times in milliseconds.
    enum Step {
        case down(Int64)
        case up(Int64)
        /// The line is read, without an edge.
        case look(Int64, active: Bool)
        /// Time passes: every deadline until then is met to the nanosecond.
        case wait(until: Int64)
    }

    struct Told: Equatable, CustomStringConvertible {
        var gesture: ButtonGesture
        var time: Int64
        init(_ gesture: ButtonGesture, _ time: Int64) {
            self.gesture = gesture
            self.time = time
        }
        var description: String { "\(gesture)@\(time)" }
    }

    /// Runs the steps as an event loop would: `advance` at each deadline, edges when they come.
    func told(_ gestures: Gestures, _ steps: [Step]) -> [Told] {
        var machine = ButtonStateMachine(gestures, timing: ButtonTiming())
        var told: [Told] = machine.begin(active: false).map { Told($0, 0) }
        var active = false
        func keepDeadlines(before time: Int64) {
            while let deadline = machine.deadline, deadline < milliseconds(time) {
                told += machine.advance(to: deadline, active: active).map { Told($0, deadline / 1_000_000) }
            }
        }
        for step in steps {
            switch step {
            case .down(let time), .up(let time):
                keepDeadlines(before: time)
                if case .down = step { active = true } else { active = false }
                told += machine.edge(active: active, at: milliseconds(time)).map { Told($0, time) }
            case .look(let time, let looked):
                active = looked
                told += machine.advance(to: milliseconds(time), active: active).map { Told($0, time) }
            case .wait(let time):
                keepDeadlines(before: time + 1)
            }
        }
        return told
    }

    @Test("20 bounces in 10 ms are one press, reported at the first contact", arguments: [0, 100, 250, 499] as [Int64])
    func bounces(gap: Int64) {
        var machine = ButtonStateMachine([], timing: ButtonTiming(debounce: 20))
        _ = machine.begin(active: false)
        var told: [Told] = []
        // 20 times closed and open within 10 ms, the gaps uneven, then closed.
        for bounce in 0..<20 {
            let time = Int64(bounce) * 500_000
            told += machine.edge(active: true, at: time).map { Told($0, time) }
            told += machine.edge(active: false, at: time + gap * 1000).map { Told($0, time) }
        }
        told += machine.edge(active: true, at: milliseconds(10)).map { Told($0, milliseconds(10)) }
        #expect(machine.deadline == milliseconds(30))
        told += machine.advance(to: milliseconds(200), active: true).map { Told($0, 200) }
        #expect(told == [Told(.press, 0)])
        #expect(machine.edge(active: false, at: milliseconds(300)) == [])
        #expect(machine.advance(to: milliseconds(400), active: false) == [])
        #expect(machine.edge(active: true, at: milliseconds(500)) == [.press])
    }

    static let cases: [(String, Gestures, [Step], [Told])] = [
        ("a press alone is reported at its edge", [], [.down(100), .up(200), .wait(until: 5000)], [Told(.press, 100)]),
        (
            "with a long press beside it, at its release", .longPress,
            [.down(100), .up(400), .wait(until: 5000)], [Told(.press, 400)]
        ),
        (
            "held for 800 ms it is a long press, reported while it is held, and no press", .longPress,
            [.down(100), .up(2000), .wait(until: 5000)], [Told(.longPress, 900)]
        ),
        (
            "one millisecond less is a press", .longPress,
            [.down(100), .up(899), .wait(until: 5000)], [Told(.press, 899)]
        ),
        (
            "with a double press beside it, when it is too late for one", .doublePress,
            [.down(100), .up(200), .wait(until: 5000)], [Told(.press, 500)]
        ),
        (
            "two presses within 300 ms are a double press, reported at the second contact, and no press", .doublePress,
            [.down(100), .up(200), .down(450), .up(500), .wait(until: 5000)], [Told(.doublePress, 450)]
        ),
        (
            "two presses further apart are two", .doublePress,
            [.down(100), .up(200), .down(600), .up(700), .wait(until: 5000)], [Told(.press, 500), Told(.press, 1000)]
        ),
        (
            "three quick presses are a double press and a press", .doublePress,
            [.down(100), .up(200), .down(300), .up(400), .down(500), .up(600), .wait(until: 5000)],
            [Told(.doublePress, 300), Told(.press, 900)]
        ),
        (
            "all three: held is a long press", [.longPress, .doublePress],
            [.down(100), .up(1500), .wait(until: 5000)], [Told(.longPress, 900)]
        ),
        (
            "all three: the second of two may be held", [.longPress, .doublePress],
            [.down(100), .up(200), .down(300), .up(3000), .wait(until: 5000)], [Told(.doublePress, 300)]
        ),
        (
            "volume repeats while it is held: after 500 ms, then every 150 ms", .repetition,
            [.down(100), .up(1000), .wait(until: 5000)],
            [Told(.press, 100), Told(.repetition, 600), Told(.repetition, 750), Told(.repetition, 900)]
        ),
        (
            "a tap that ends while it still bounces is one press, and the next one is another", [],
            [.down(100), .up(105), .wait(until: 400), .down(500), .up(505), .wait(until: 5000)],
            [Told(.press, 100), Told(.press, 500)]
        ),
        (
            "a release may bounce", .longPress,
            [.down(100), .up(400), .down(402), .up(404), .down(406), .up(408), .wait(until: 5000)], [Told(.press, 400)]
        ),
        (
            "an edge that the kernel dropped is found by looking", .longPress,
            [.down(100), .up(110), .down(112), .look(132, active: false), .wait(until: 5000)], [Told(.press, 132)]
        ),
        (
            "an edge without a change changes nothing", [],
            [.down(100), .down(300), .up(400), .up(500), .wait(until: 5000)], [Told(.press, 100)]
        ),
        (
            "held for 30 s it is stuck; nothing comes of it until it is released", [],
            [.down(100), .wait(until: 60_000), .up(70_000), .wait(until: 71_000), .down(80_000), .up(80_100)],
            [Told(.press, 100), Told(.stuck, 30_100), Told(.freed, 70_020), Told(.press, 80_000)]
        ),
        (
            "a contact that chatters for ever is stuck, once", [],
            [.down(0)] + (1...8000).map { $0.isMultiple(of: 2) ? .down(Int64($0) * 5) : .up(Int64($0) * 5) },
            [Told(.press, 0), Told(.stuck, 30_000)]
        ),
        (
            "a stuck volume button stops repeating", .repetition,
            [.down(0), .wait(until: 100_000)],
            [Told(.press, 0)] + (0..<197).map { Told(.repetition, 500 + 150 * Int64($0)) } + [Told(.stuck, 30_000)]
        ),
    ]

    @Test("gestures", arguments: cases)
    func gestures(name: String, gestures: Gestures, steps: [Step], expected: [Told]) {
        #expect(told(gestures, steps) == expected, "\(name)")
    }

    @Test("active from the start is stuck: reported once, ignored until it was released and quiet")
    func stuckFromTheStart() {
        var machine = ButtonStateMachine([.longPress], timing: ButtonTiming())
        #expect(machine.begin(active: true) == [.stuck])
        #expect(machine.deadline == nil)
        #expect(machine.advance(to: milliseconds(100_000), active: true) == [])
        #expect(machine.edge(active: false, at: milliseconds(200_000)) == [])
        #expect(machine.edge(active: true, at: milliseconds(200_001)) == [])
        #expect(machine.edge(active: false, at: milliseconds(200_002)) == [])
        #expect(machine.advance(to: milliseconds(200_022), active: false) == [.freed])
        #expect(machine.edge(active: true, at: milliseconds(201_000)) == [])
        #expect(machine.edge(active: false, at: milliseconds(201_100)) == [.press])
    }

    @Test("deadlines that were missed are made up for in order, but repetitions do not pile up")
    func late() {
        var machine = ButtonStateMachine(.repetition, timing: ButtonTiming())
        _ = machine.begin(active: false)
        #expect(machine.edge(active: true, at: 0) == [.press])
        #expect(machine.advance(to: milliseconds(5000), active: true) == [.repetition])
        #expect(machine.deadline == milliseconds(5150))

        var pressed = ButtonStateMachine([.doublePress], timing: ButtonTiming())
        _ = pressed.begin(active: false)
        _ = pressed.edge(active: true, at: 0)
        _ = pressed.edge(active: false, at: milliseconds(100))
        // The loop was busy: it learns of the next press only now, and the timestamp shows that it was too late.
        #expect(pressed.edge(active: true, at: milliseconds(450)) == [.press])
    }

    @Test("a time of any value from the kernel is survived", arguments: [.min, -1, .max - 1, .max] as [Int64])
    func extremeTimes(time: Int64) {
        for gestures: ButtonStateMachine.Gestures in [[], .repetition, .doublePress, [.longPress, .doublePress]] {
            var machine = ButtonStateMachine(gestures, timing: ButtonTiming())
            _ = machine.begin(active: false)
            for active in [true, false, true] {
                _ = machine.edge(active: active, at: time)
                _ = machine.advance(to: time, active: active)
                _ = machine.advance(to: .max, active: nil)
            }
            #expect((machine.deadline ?? 0) >= 0)
        }
    }

    @Test("an idle button waits for nothing")
    func idle() {
        var machine = ButtonStateMachine([.longPress, .doublePress], timing: ButtonTiming())
        _ = machine.begin(active: false)
        #expect(machine.deadline == nil)
        _ = machine.edge(active: true, at: 0)
        _ = machine.edge(active: false, at: milliseconds(100))
        _ = machine.advance(to: milliseconds(1000), active: false)
        #expect(machine.deadline == nil)
    }
}

@Suite("A knob's edges become clicks")
struct RotaryTests {
    /// Both contacts as a two-bit number, A above B.
    static let clockwise = [0, 2, 3, 1]

    func clicks(_ stepsPerDetent: Int, _ places: [Int]) -> [RotaryDecoder.Direction] {
        var decoder = RotaryDecoder(stepsPerDetent: stepsPerDetent, a: places[0] & 2 != 0, b: places[0] & 1 != 0)
        var told: [RotaryDecoder.Direction] = []
        for (former, place) in zip(places, places.dropFirst()) {
            if (former ^ place) & 2 != 0, let turned = decoder.edge(a: place & 2 != 0) { told.append(turned) }
            if (former ^ place) & 1 != 0, let turned = decoder.edge(b: place & 1 != 0) { told.append(turned) }
        }
        return told
    }

    @Test("so many steps are one click, in both directions", arguments: [1, 2, 4])
    func turns(stepsPerDetent: Int) {
        let turn = (0...16).map { Self.clockwise[$0 % 4] }
        let count = 16 / stepsPerDetent
        #expect(clicks(stepsPerDetent, turn) == Array(repeating: .clockwise, count: count))
        #expect(clicks(stepsPerDetent, turn.reversed()) == Array(repeating: .counterClockwise, count: count))
    }

    @Test(
        "bouncing contacts and half turns are no clicks",
        arguments: [
            ([0, 2, 0, 2, 0], []),
            ([0, 2, 3, 2, 0], []),
            ([0, 1, 3, 1, 0], []),
            ([0, 2, 0, 2, 3, 2, 3, 1, 3, 1, 0, 1, 0], [.clockwise]),
            ([0, 2, 3, 1, 3, 2, 0], []),
        ] as [([Int], [RotaryDecoder.Direction])])
    func bounces(places: [Int], expected: [RotaryDecoder.Direction]) {
        #expect(clicks(4, places) == expected)
    }

    @Test("one lost edge neither loses the click nor the next one")
    func lostEdge() {
        var decoder = RotaryDecoder(stepsPerDetent: 4, a: false, b: false)
        // A's closing edge is reported twice, its opening edge late.
        let edges: [RotaryDecoder.Direction?] = [
            decoder.edge(a: true), decoder.edge(a: true), decoder.edge(b: true), decoder.edge(a: false),
            decoder.edge(b: false),
        ]
        #expect(edges == [nil, nil, nil, nil, .clockwise])
        #expect(decoder.edge(a: true) == nil)
        #expect(decoder.edge(a: false) == nil)
    }

    @Test("a contact that chatters is reported once, bounded, and ignored until it was quiet for 2 s")
    func chattering() {
        var machine = ButtonStateMachine([], timing: ButtonTiming(debounce: 20))
        _ = machine.begin(active: false)
        var told: [ButtonGesture] = []
        // As often as the debounce time allows, for ten minutes.
        var time: Int64 = 0
        for _ in 0..<15_000 {
            for active in [true, false] {
                time += milliseconds(20)
                told += machine.edge(active: active, at: time)
            }
        }
        #expect(told == Array(repeating: .press, count: ButtonStateMachine.pressLimit) + [.chattering])
        #expect(machine.advance(to: time + milliseconds(1999), active: false) == [])
        #expect(machine.advance(to: time + milliseconds(2000), active: false) == [.freed])
        #expect(machine.edge(active: true, at: time + milliseconds(3000)) == [.press])
    }

    @Test("a contact that stays closed after it chattered is stuck")
    func chatteringThenStuck() {
        var machine = ButtonStateMachine([], timing: ButtonTiming(debounce: 20))
        _ = machine.begin(active: false)
        var time: Int64 = 0
        for index in 0..<101 {
            time += milliseconds(20)
            _ = machine.edge(active: index.isMultiple(of: 2), at: time)
        }
        #expect(machine.advance(to: time + milliseconds(5000), active: true) == [.stuck])
        #expect(machine.edge(active: false, at: time + milliseconds(6000)) == [])
        #expect(machine.advance(to: time + milliseconds(7000), active: false) == [.freed])
    }

    @Test("a person who presses 8 times a second for a minute is heard each time")
    func quickFingers() {
        var machine = ButtonStateMachine([], timing: ButtonTiming(debounce: 20))
        _ = machine.begin(active: false)
        var presses = 0
        for index in 0..<480 {
            let time = Int64(index) * milliseconds(125)
            presses += machine.edge(active: true, at: time).count
            presses += machine.edge(active: false, at: time + milliseconds(60)).count
        }
        #expect(presses == 480)
    }

    @Test("a time before the clock's beginning is shown as its beginning")
    func negativeTime() {
        #expect(BoardEvent.edge(name: "a", isActive: true, time: .min).description == "a: active at 0.000000 s")
    }
}
