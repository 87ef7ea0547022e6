/// Frames and time, in 64 bits: ten seconds at 352.8 kHz times 1000 do not fit into 32. A result that does not fit into
/// 64 bits becomes the nearest number that does.
public enum FrameCount {
    /// The whole frames in `milliseconds` at `sampleRate` Hz; at least 0.
    public static func lasting(milliseconds: Int, at sampleRate: Int) -> Int64 {
        product(Int64(sampleRate), Int64(milliseconds)) / 1000
    }

    /// The bytes (or samples) of `count` units of `size`; at least 0.
    public static func product(_ count: Int64, _ size: Int64) -> Int64 {
        guard count > 0, size > 0 else { return 0 }
        let (result, overflow) = count.multipliedReportingOverflow(by: size)
        return overflow ? .max : result
    }
}
