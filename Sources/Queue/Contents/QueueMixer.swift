/// Random positions in a shuffled queue, as a value. The next one is known before it is taken (SplitMix64).
struct QueueMixer: Sendable {
    private var state: UInt64

    init(seed: UInt64 = 0x5DEE_CE66_D1CE_4E5B) { state = seed }

    /// Returns the next number in 0..<bound without taking it; 0 for an empty range.
    func index(below bound: Int) -> Int {
        bound > 0 ? Int(number.multipliedFullWidth(by: UInt64(bound)).high) : 0
    }

    mutating func advance() { state &+= 0x9E37_79B9_7F4A_7C15 }

    /// Takes and returns the next number in 0..<bound.
    mutating func next(below bound: Int) -> Int {
        advance()
        return index(below: bound)
    }

    private var number: UInt64 {
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
