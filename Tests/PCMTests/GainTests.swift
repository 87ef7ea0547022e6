import PCM
import Testing

@Suite("Gain: unsigned Q4.28")
struct GainTests {
    @Test(
        "a factor becomes the nearest step",
        arguments: [
            (0.0, 0), (1.0, 1 << 28), (0.5, 1 << 27), (0.8, 214_748_365), (7.999_999_999, Int32.max),
            // 2⁻²⁹ is half a step, which rounds away from zero. A value just below it becomes 0.
            (0x1p-29, 1), (0x1.fffffffffffffp-30, 0), (1 + 0x1p-28, (1 << 28) + 1),
        ] as [(Double, Int32)])
    func nearest(factor: Double, rawValue: Int32) {
        #expect(Gain(factor: factor).rawValue == rawValue)
    }

    @Test(
        "what Q4.28 cannot hold is clamped; what is not a number is silence",
        arguments: [
            (8.0, Gain.maximum), (1e300, .maximum), (.infinity, .maximum),
            (-0.0, .muted), (-1.0, .muted), (-.infinity, .muted), (.nan, .muted), (.signalingNaN, .muted),
        ] as [(Double, Gain)])
    func clamped(factor: Double, gain: Gain) {
        #expect(Gain(factor: factor) == gain)
    }

    @Test(
        "decibels",
        arguments: [
            (0.0, 1 << 28), (-6.020599913279624, 1 << 27), (6.020599913279624, 1 << 29), (20.0, Int32.max),
            (-20.0, 26_843_546), (-60.0, 268_435), (-200.0, 0), (-.infinity, 0),
        ] as [(Double, Int32)])
    func decibels(level: Double, rawValue: Int32) {
        #expect(Gain(decibels: level).rawValue == rawValue)
    }

    @Test(
        "the factor of a gain makes the same gain again",
        arguments: [0, 1, 268_435, 1 << 28, 214_748_365, .max] as [Int32])
    func roundTrip(rawValue: Int32) {
        let factor = Double(rawValue) / 0x1p28
        #expect(Gain(factor: factor).rawValue == rawValue)
        #expect(Gain(factor: factor).factor == factor)
    }
}
