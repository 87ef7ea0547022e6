/// Who has asked for which focus. Whoever shares the speaker says so over its connection, and may bind what it says to
/// that: a doorbell that crashes gives the speaker back. The lowest level wins.
public struct FocusHolders: Equatable, Sendable {
    /// What holds without anybody; changed by those who do not stay connected.
    public var lasting = FocusLevel.full
    private var held: [(holder: UInt64, level: FocusLevel)] = []

    public init() {}

    /// What the player may have.
    public var level: FocusLevel { held.reduce(lasting) { min($0, $1.level) } }

    public mutating func hold(_ level: FocusLevel, by holder: UInt64) {
        release(by: holder)
        held.append((holder, level))
    }

    func isHeld(by holder: UInt64) -> Bool { held.contains { $0.holder == holder } }

    /// Gives back what the holder held.
    public mutating func release(by holder: UInt64) { held.removeAll { $0.holder == holder } }

    public static func == (left: Self, right: Self) -> Bool {
        left.lasting == right.lasting && left.held.elementsEqual(right.held) { $0 == $1 }
    }
}
