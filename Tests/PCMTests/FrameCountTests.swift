import PCM
import Testing

@Suite("Frames and time in 64 bits")
struct FrameCountTests {
    @Test(
        "frames of a time, rounded down; what does not fit is the largest number",
        arguments: [
            (200, 44_100, 8_820), (10_000, 352_800, 3_528_000), (1, 44_100, 44), (0, 48_000, 0), (-5, 48_000, 0),
            (10_000, 2_147_483_647, 21_474_836_470), (Int.max, Int.max, Int64.max / 1000),
        ] as [(Int, Int, Int64)])
    func lasting(milliseconds: Int, rate: Int, frames: Int64) {
        #expect(FrameCount.lasting(milliseconds: milliseconds, at: rate) == frames)
    }

    @Test(
        "a product that does not fit is the largest number",
        arguments: [(3, 4, 12), (.max, 2, .max), (-1, 4, 0), (4, -1, 0), (.max, 1, .max)] as [(Int64, Int64, Int64)])
    func product(count: Int64, size: Int64, product: Int64) {
        #expect(FrameCount.product(count, size) == product)
    }
}
