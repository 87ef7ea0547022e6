/// Turns the edges of two quadrature contacts into clicks of the knob.
///
/// It needs no debouncing: a bouncing contact makes a step and the same step back. When a step was missed, both
/// contacts change at once; this counts as no step, and the next rest position corrects the count.
public struct RotaryDecoder: Sendable {
    public enum Direction: Equatable, Sendable {
        /// A leads B.
        case clockwise
        case counterClockwise
    }

    /// The contacts as a two-bit number, with A as the higher bit, go 0, 2, 3, 1, 0 clockwise. Indexed by [old][new].
    private static let steps: [[Int]] = [
        [0, -1, 1, 0],
        [1, 0, 0, -1],
        [-1, 0, 0, 1],
        [0, 1, -1, 0],
    ]

    private let stepsPerDetent: Int
    private var a: Bool
    private var b: Bool
    /// Steps since the last rest position.
    private var steps = 0

    /// - Parameter stepsPerDetent: edges of both contacts together from one click to the next: 1, 2 or 4.
    /// - Parameters a, b: the present states of the contacts.
    public init(stepsPerDetent: Int, a: Bool, b: Bool) {
        self.stepsPerDetent = stepsPerDetent
        self.a = a
        self.b = b
    }

    /// Handles a change of contact A.
    public mutating func edge(a active: Bool) -> Direction? { move(a: active, b: b) }

    /// Handles a change of contact B.
    public mutating func edge(b active: Bool) -> Direction? { move(a: a, b: active) }

    private mutating func move(a newA: Bool, b newB: Bool) -> Direction? {
        // The count is limited: a broken contact may never reach a rest position.
        steps = min(max(steps + Self.steps[Self.place(a, b)][Self.place(newA, newB)], -100), 100)
        a = newA
        b = newB
        guard isAtRest else { return nil }
        defer { steps = 0 }
        // More than half of the steps are enough, because one may have been missed.
        guard steps.magnitude * 2 > stepsPerDetent else { return nil }
        return steps > 0 ? .clockwise : .counterClockwise
    }

    private var isAtRest: Bool {
        switch stepsPerDetent {
        case 1: true
        case 2: a == b
        default: !a && !b
        }
    }

    private static func place(_ a: Bool, _ b: Bool) -> Int { (a ? 2 : 0) + (b ? 1 : 0) }
}
