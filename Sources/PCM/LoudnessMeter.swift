import CEBUR128

/// Loudness and true peak of one track by EBU R 128 (ITU-R BS.1770), as ReplayGain 2 has them.
///
///     meter.add(frames)
///     meter.finish()
///     let gain = LoudnessMeter.albumGain(of: [meter])
///
/// Thread: one at a time.
public final class LoudnessMeter {
    /// ReplayGain's reference level in LUFS.
    private static let reference = -18.0

    private var state: UnsafeMutablePointer<ebur128_state>?
    private let format: PCMFormat
    /// The number of measured frames.
    public private(set) var frameCount: Int64 = 0
    /// The gain in dB after `finish`; nil for silence, and for less than one block of the measurement.
    public private(set) var gain: Double?
    /// The linear peak after `finish`, 1 is full scale; nil for silence.
    public private(set) var peak: Double?

    /// Whether the track is shorter than one block of the measurement, 0.4 s.
    public var isTooShort: Bool { frameCount * 5 < Int64(format.sampleRate) * 2 }

    /// Returns nil without memory, and for a format that cannot be measured.
    public init?(_ format: PCMFormat) {
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
    public func add(_ frames: UnsafeBufferPointer<Int32>) {
        ebur128_add_frames_int(state, frames.baseAddress, frames.count / format.channelCount)
        frameCount += Int64(frames.count / format.channelCount)
    }

    /// Ends the measurement. The meter then needs 20 kB instead of a megabyte, for `albumGain`.
    public func finish() {
        var loudness = 0.0
        if Self.isFine(ebur128_loudness_global(state, &loudness)) { gain = Self.gain(of: loudness) }
        var highest = 0.0
        for channel in 0..<UInt32(format.channelCount) {
            var peak = 0.0
            if Self.isFine(ebur128_true_peak(state, channel, &peak)) { highest = max(highest, peak) }
        }
        peak = highest > 0 ? highest : nil
        // The histogram stays. The audio and the filters of the peak are made anew for the smallest format.
        ebur128_change_parameters(state, 1, 16)
    }

    /// Returns the gain of several finished tracks that belong together.
    public static func albumGain(of meters: [LoudnessMeter]) -> Double? {
        var states = meters.map { $0.state }
        var loudness = 0.0
        return isFine(ebur128_loudness_global_multiple(&states, states.count, &loudness)) ? gain(of: loudness) : nil
    }

    private static func isFine(_ code: Int32) -> Bool { code == Int32(EBUR128_SUCCESS.rawValue) }

    private static func gain(of loudness: Double) -> Double? {
        loudness.isFinite ? reference - loudness : nil
    }
}
