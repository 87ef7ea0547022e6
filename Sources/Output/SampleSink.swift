import PCM

/// An open device together with the arithmetic that turns ring samples into what it takes.
///
/// Thread: the audio thread. Only `init` allocates.
final class SampleSink {
    let device: any PlaybackDevice
    private let samples: SampleRenderer

    init(_ device: any PlaybackDevice, ditherSeed: UInt64) {
        self.device = device
        let configuration = device.configuration
        samples = SampleRenderer(
            format: configuration.sampleFormat, channelCount: configuration.channelCount,
            sampleRate: configuration.sampleRate, seed: ditherSeed)
    }

    /// Whether audio of this format can be written without opening the device anew.
    func takes(_ format: PCMFormat) -> Bool {
        device.configuration.sampleRate == format.sampleRate && device.configuration.channelCount == format.channelCount
    }

    /// What the device holds when it is full, in nanoseconds.
    var bufferDuration: Int64 {
        Int64(device.configuration.bufferFrames) * 1_000_000_000 / Int64(device.configuration.sampleRate)
    }

    /// Writes up to `frames` frames.
    /// - Parameter startsRun: the gain holds exactly from the first of them on. In the middle of a run a change is ramped.
    /// - Returns: the frames that the device took.
    func write(
        _ source: UnsafePointer<Int32>, _ frames: Int, gain: Gain, startsRun: Bool
    ) throws(DeviceFault) -> Int {
        if startsRun { samples.switchGain(to: gain) } else if gain != samples.gain { samples.rampGain(to: gain) }
        var next = source
        return try device.write(frames) { destination, count in
            samples.render(from: next, frames: count, to: destination)
            next += count * samples.channelCount
        }
    }
}
