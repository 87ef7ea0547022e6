/// The focus that clients have set. A program that shares the speaker can set the focus permanently, or only while it
/// is connected. So when a doorbell crashes, the player gets the speaker back. The lowest level applies.
public struct FocusHolders: Equatable, Sendable {
    /// The level that applies without holders. Clients that do not stay connected change this level.
    public var lasting = FocusLevel.full
    private var held: [(holder: UInt64, level: FocusLevel)] = []

    public init() {}

    /// The level that applies.
    public var level: FocusLevel { held.reduce(lasting) { min($0, $1.level) } }

    public mutating func hold(_ level: FocusLevel, by holder: UInt64) {
        release(by: holder)
        held.append((holder, level))
    }

    func isHeld(by holder: UInt64) -> Bool { held.contains { $0.holder == holder } }

    /// Removes the level of the holder.
    public mutating func release(by holder: UInt64) { held.removeAll { $0.holder == holder } }

    public static func == (left: Self, right: Self) -> Bool {
        left.lasting == right.lasting && left.held.elementsEqual(right.held) { $0 == $1 }
    }
}
