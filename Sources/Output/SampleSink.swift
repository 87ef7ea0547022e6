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

    /// How long `frames` frames last, in milliseconds.
    func milliseconds(_ frames: Int64) -> Int64 { frames * 1000 / Int64(device.configuration.sampleRate) }

    /// Writes a piece, or the first frames of it.
    /// - Returns: the frames that the device took.
    func write(_ piece: PlayHead.Piece) throws(DeviceFault) -> Int {
        if piece.switchesGain {
            samples.switchGain(to: piece.gain)
        } else if piece.gain != samples.gain {
            samples.rampGain(to: piece.gain)
        }
        var next = piece.samples
        return try device.write(piece.frames) { destination, count in
            samples.render(from: next, frames: count, to: destination)
            next += count * samples.channelCount
        }
    }
}
