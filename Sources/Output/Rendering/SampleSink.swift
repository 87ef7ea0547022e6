import PCM

/// An open device together with the arithmetic that turns ring samples into what it takes.
///
/// Thread: the audio thread. Only `init` allocates.
final class SampleSink {
    /// Why no more can be written now.
    enum Filling {
        /// The device takes no more.
        case full
        /// There is nothing to write.
        case starved
        /// Some of what was written has to be heard first.
        case tooManyBoundaries
        /// All of what was written has to be heard first.
        case boundary
    }

    let device: any PlaybackDevice
    private let samples: SampleRenderer

    /// Frames with which the device can be started: its buffer, or as much as was asked for where that is less. A ring
    /// holds enough for what was asked for, and no more is waited for.
    let startFrames: Int
    /// Frames of silence that come before everything else. The head knows nothing of them: to it the device is late.
    private var settleFrames: Int

    /// Whether the device has silence to begin with and nothing else yet: it can be started without a stream's frames.
    private(set) var isSettling = false

    init(_ device: any PlaybackDevice, settings: RendererSettings, settleMilliseconds: Int = 0) {
        self.device = device
        let configuration = device.configuration
        let rate = configuration.sampleRate
        settleFrames = Int(clamping: FrameCount.lasting(milliseconds: settleMilliseconds, at: rate))
        let wanted = FrameCount.lasting(milliseconds: settings.bufferMilliseconds, at: rate)
        startFrames = Int(min(Int64(configuration.bufferFrames), wanted))
        samples = SampleRenderer(
            format: configuration.sampleFormat, channelCount: configuration.channelCount,
            sampleRate: configuration.sampleRate, seed: settings.ditherSeed)
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

    /// Writes as much as the device takes now.
    func fill(from head: inout PlayHead) throws(DeviceFault) -> Filling {
        var room = try device.writableFrames()
        while room > 0, settleFrames > 0 {
            let written = try writeSilence(min(room, settleFrames))
            guard written > 0 else { return .full }
            room -= written
        }
        while room > 0 {
            switch head.read(upTo: room) {
            case .frames(let piece):
                let written = try write(piece)
                guard written > 0 else { return .full }
                head.wrote(written)
                isSettling = false
                room -= written
            case .nothingYet:
                return .starved
            case .tooManyBoundaries:
                return .tooManyBoundaries
            case .boundary:
                return .boundary
            }
        }
        return .full
    }

    private func writeSilence(_ frames: Int) throws(DeviceFault) -> Int {
        let frameSize = device.configuration.sampleFormat.byteCount * samples.channelCount
        let written = try device.write(frames) { destination, count in
            destination.initializeMemory(as: UInt8.self, repeating: 0, count: count * frameSize)
        }
        settleFrames -= written
        isSettling = true
        return written
    }

    /// Writes a piece, or the first frames of it.
    /// - Returns: the frames that the device took.
    private func write(_ piece: PlayHead.Piece) throws(DeviceFault) -> Int {
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
