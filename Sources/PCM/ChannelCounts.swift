/// The channel counts that a device has, exactly: a device with 2 and 6 channels need not have 4.
public struct ChannelCounts: Equatable, Sendable, BitwiseCopyable {
    /// The largest count that Tonearm drives a device with.
    public static let largest = 32

    /// The set of counts: bit n stands for n + 1 channels.
    private var bits: UInt32 = 0

    /// Counts outside 1…32 are left out.
    public init(_ counts: some Sequence<Int>) {
        for count in counts where (1...Self.largest).contains(count) { bits |= Self.bit(count) }
    }

    public func contains(_ count: Int) -> Bool {
        (1...Self.largest).contains(count) && bits & Self.bit(count) != 0
    }

    /// The smallest count above `count`.
    public func next(above count: Int) -> Int? {
        count < Self.largest ? (max(count + 1, 1)...Self.largest).first { contains($0) } : nil
    }

    /// The largest count below `count`.
    public func next(below count: Int) -> Int? {
        count > 1 ? (1...min(count - 1, Self.largest)).last { contains($0) } : nil
    }

    /// All counts, ascending.
    public var all: [Int] { (1...Self.largest).filter { contains($0) } }

    private static func bit(_ count: Int) -> UInt32 { 1 << UInt32(count - 1) }
}
