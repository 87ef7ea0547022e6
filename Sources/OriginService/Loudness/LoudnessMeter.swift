import CEBUR128
import PCM

/// Loudness and true peak of one track by EBU R 128 (ITU-R BS.1770).
///
/// Thread: one at a time.
final class LoudnessMeter {
    /// ReplayGain's reference level in LUFS.
    private static let reference = -18.0

    private var state: UnsafeMutablePointer<ebur128_state>?
    private let format: PCMFormat

    /// Returns nil without memory, and for a format that cannot be measured.
    init?(_ format: PCMFormat) {
        // The histogram needs little memory for an album's tracks, and is exact to 0.1 dB.
        let mode = EBUR128_MODE_I.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue | EBUR128_MODE_HISTOGRAM.rawValue
        guard let state = ebur128_init(UInt32(format.channelCount), UInt(format.sampleRate), Int32(mode)) else {
            return nil
        }
        self.state = state
        self.format = format
    }

    deinit { ebur128_destroy(&state) }

    /// - Parameter frames: interleaved, left-justified frames.
    func add(_ frames: UnsafeBufferPointer<Int32>) {
        ebur128_add_frames_int(state, frames.baseAddress, frames.count / format.channelCount)
    }

    /// The gain in dB; nil for silence.
    var gain: Double? {
        var loudness = 0.0
        guard ebur128_loudness_global(state, &loudness) == Int32(EBUR128_SUCCESS.rawValue) else { return nil }
        return Self.gain(of: loudness)
    }

    /// The linear peak, 1 is full scale; nil for silence.
    var peak: Double? {
        let peaks = (0..<UInt32(format.channelCount)).map { channel in
            var peak = 0.0
            return ebur128_true_peak(state, channel, &peak) == Int32(EBUR128_SUCCESS.rawValue) ? peak : 0
        }
        return peaks.max().flatMap { $0 > 0 ? $0 : nil }
    }

    /// Returns the gain of several tracks that belong together.
    static func albumGain(of meters: [LoudnessMeter]) -> Double? {
        var states = meters.map(\.state)
        var loudness = 0.0
        let code = ebur128_loudness_global_multiple(&states, states.count, &loudness)
        return code == Int32(EBUR128_SUCCESS.rawValue) ? gain(of: loudness) : nil
    }

    private static func gain(of loudness: Double) -> Double? {
        loudness.isFinite ? reference - loudness : nil
    }
}
