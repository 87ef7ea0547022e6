/// Two quadrature contacts in, clicks of the knob out.
///
/// It needs no debouncing: a bouncing contact goes one step forth and the same step back. A step that was missed shows
/// as both contacts changed at once; it counts for nothing, and the next place of rest sets things right.
public struct RotaryDecoder: Sendable {
    public enum Direction: Equatable, Sendable {
        /// A leads B.
        case clockwise
        case counterClockwise
    }

    /// The contacts as a two-bit number, A above B, go 0, 2, 3, 1, 0 clockwise. Steps by [former][current].
    private static let steps: [[Int]] = [
        [0, -1, 1, 0],
        [1, 0, 0, -1],
        [-1, 0, 0, 1],
        [0, 1, -1, 0],
    ]

    private let stepsPerDetent: Int
    private var a: Bool
    private var b: Bool
    /// Since the last place of rest.
    private var steps = 0

    /// - Parameter stepsPerDetent: edges of both contacts together from one click to the next: 1, 2 or 4.
    /// - Parameters a, b: the contacts as they are now.
    public init(stepsPerDetent: Int, a: Bool, b: Bool) {
        self.stepsPerDetent = stepsPerDetent
        self.a = a
        self.b = b
    }

    /// Contact A changed.
    public mutating func edge(a active: Bool) -> Direction? { move(a: active, b: b) }

    /// Contact B changed.
    public mutating func edge(b active: Bool) -> Direction? { move(a: a, b: active) }

    private mutating func move(a newA: Bool, b newB: Bool) -> Direction? {
        // Limited: a broken contact may go on without ever being at rest.
        steps = min(max(steps + Self.steps[Self.place(a, b)][Self.place(newA, newB)], -100), 100)
        a = newA
        b = newB
        guard isAtRest else { return nil }
        defer { steps = 0 }
        // More than half the way: one step may have been missed.
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
