/// The meaning of the lines of one button or encoder. It only decides; `LineWatch` waits and reads.
protocol BoardInput: AnyObject {
    /// The name in the profile.
    var name: String { get }
    /// The input's section in the profile: `button play`.
    var subject: String { get }
    var lines: [InputLineRequest] { get }
    /// When to call `timePassed`, in nanoseconds; nil when no time is awaited.
    var deadline: Int64? { get }

    /// Handles the start of watching; `active` has the states of the lines, in order.
    func began(_ active: [Bool], at time: Int64) -> [BoardEvent]
    /// Handles a change of the line with this index.
    func changed(_ line: Int, _ edge: LineEdge) -> [BoardEvent]
    /// - Parameter active: the state of the first line.
    func timePassed(to time: Int64, active: Bool?) -> [BoardEvent]
}

/// The properties of an input line to request.
struct InputLineRequest {
    var line: LineReference
    var active: ActiveLevel
    var bias: LineBias
    /// The debounce time in milliseconds.
    var debounce: Int
}

/// A push button.
final class ButtonInput: BoardInput {
    private let button: BoardButton
    private var machine: ButtonStateMachine

    init(_ button: BoardButton) {
        self.button = button
        var gestures: ButtonStateMachine.Gestures = []
        if button.longPress != nil { gestures.insert(.longPress) }
        if button.doublePress != nil { gestures.insert(.doublePress) }
        if let press = button.press, press.repeatsWhileHeld { gestures.insert(.repetition) }
        machine = ButtonStateMachine(gestures, timing: button.timing)
    }

    var name: String { button.name }
    var subject: String { "button \(name)" }
    var lines: [InputLineRequest] {
        let debounce = button.timing.debounce
        return [InputLineRequest(line: button.line, active: button.active, bias: button.bias, debounce: debounce)]
    }
    var deadline: Int64? { machine.deadline }

    func began(_ active: [Bool], at time: Int64) -> [BoardEvent] { events(machine.begin(active: active[0]), time) }

    func changed(_ line: Int, _ edge: LineEdge) -> [BoardEvent] {
        let gestures = machine.edge(active: edge.isActive, at: edge.time)
        return [.edge(name: name, isActive: edge.isActive, time: edge.time)] + events(gestures, edge.time)
    }

    func timePassed(to time: Int64, active: Bool?) -> [BoardEvent] {
        events(machine.advance(to: time, active: active), time)
    }

    private func events(_ gestures: [ButtonGesture], _ time: Int64) -> [BoardEvent] {
        var events: [BoardEvent] = []
        for gesture in gestures {
            events.append(.gesture(name: name, gesture))
            let action: ButtonAction? =
                switch gesture {
                case .press, .repetition: button.press
                case .longPress: button.longPress
                case .doublePress: button.doublePress
                case .stuck, .chattering, .freed: nil
                }
            if let action { events.append(.action(action, name: name, time: time)) }
        }
        return events
    }
}

/// A rotary encoder.
final class EncoderInput: BoardInput {
    private let encoder: BoardEncoder
    private var decoder: RotaryDecoder

    init(_ encoder: BoardEncoder) {
        self.encoder = encoder
        decoder = RotaryDecoder(stepsPerDetent: encoder.stepsPerDetent, a: false, b: false)
    }

    var name: String { encoder.name }
    var subject: String { "encoder \(name)" }
    var lines: [InputLineRequest] {
        // A bounce goes one step and back, so the steps cancel out.
        [encoder.lineA, encoder.lineB].map {
            InputLineRequest(line: $0, active: encoder.active, bias: encoder.bias, debounce: 0)
        }
    }
    var deadline: Int64? { nil }

    func began(_ active: [Bool], at time: Int64) -> [BoardEvent] {
        decoder = RotaryDecoder(stepsPerDetent: encoder.stepsPerDetent, a: active[0], b: active[1])
        return []
    }

    func changed(_ line: Int, _ edge: LineEdge) -> [BoardEvent] {
        var events = [BoardEvent.edge(name: name, isActive: edge.isActive, time: edge.time)]
        if let direction = line == 0 ? decoder.edge(a: edge.isActive) : decoder.edge(b: edge.isActive) {
            let action = direction == .clockwise ? encoder.clockwise : encoder.counterClockwise
            events += [.turned(name: name, direction), .action(action, name: name, time: edge.time)]
        }
        return events
    }

    func timePassed(to time: Int64, active: Bool?) -> [BoardEvent] { [] }
}
