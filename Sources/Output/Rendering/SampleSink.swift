import PCM

/// An open device, and the conversion of ring samples into its format.
///
/// A device that gets DSD over PCM has no fades. When it starts, the idle pattern of DSD comes before the first frame;
/// before it stops, the pattern follows the last one. So the DAC neither clicks nor misses the beginning.
///
/// Thread: the audio thread. Only `init` allocates.
final class SampleSink {
    /// Why no more can be written now.
    enum Filling {
        /// The device has no room.
        case full
        /// There are no frames to write.
        case starved
        /// Some of the written frames have to be heard first.
        case tooManyBoundaries
        /// All written frames have to be heard first.
        case boundary
    }

    let device: any PlaybackDevice
    /// The configuration of the device, with the settings that the device does not know.
    let configuration: DeviceConfiguration
    private let samples: SampleRenderer
    private let stage: SampleStage
    private let allowsAdaptation: Bool
    /// Whether audio after a silence fades in, and interrupted audio fades out.
    private let fades: Bool

    /// The device can be started with this many frames: its buffer, or the requested buffer when that is smaller. A
    /// ring holds enough for the requested one.
    let startFrames: Int
    /// Frames of silence before everything else. The head does not count them: for the head the device starts late.
    private var settleFrames: Int
    /// Frames of the idle pattern of DSD after the last frame.
    private var idleFrames = 0

    /// Whether the device has only this silence so far: it can be started without frames of a stream.
    private(set) var isSettling = false

    /// Milliseconds of the idle pattern before and after DSD.
    private static let idleMilliseconds = 20

    /// - Parameter isDSD: whether all audio for the device is DSD.
    init(
        _ device: any PlaybackDevice, settings: RendererSettings, isDSD: Bool = false, settleMilliseconds: Int = 0
    ) {
        self.device = device
        var configuration = device.configuration
        configuration.isDSD = isDSD
        if !isDSD { configuration.routing = settings.routing }
        self.configuration = configuration
        allowsAdaptation = settings.allowsAdaptation
        fades = settings.fades && device.isAudible
        let rate = configuration.sampleRate
        settleFrames = Int(clamping: FrameCount.lasting(milliseconds: settleMilliseconds, at: rate))
        let wanted = FrameCount.lasting(milliseconds: settings.bufferMilliseconds, at: rate)
        startFrames = Int(min(Int64(configuration.bufferFrames), wanted))
        stage = SampleStage(configuration)
        samples = SampleRenderer(
            format: configuration.sampleFormat, channelCount: configuration.channelCount,
            sampleRate: configuration.sampleRate, significantBits: configuration.significantBits, isDSD: isDSD,
            seed: settings.ditherSeed)
        settleFrames = max(settleFrames, leadFrames)
    }

    /// Frames of the idle pattern before and after DSD; 0 for PCM, and for a file.
    private var leadFrames: Int {
        guard configuration.isDSD, device.isAudible else { return 0 }
        return Int(clamping: FrameCount.lasting(milliseconds: Self.idleMilliseconds, at: configuration.sampleRate))
    }

    /// Whether audio of this format can be written without reopening the device.
    func takes(_ format: PCMFormat) -> Bool {
        configuration.takes(format, allowsAdaptation: allowsAdaptation)
    }

    /// The duration of the device's full buffer, in nanoseconds.
    var bufferDuration: Int64 {
        Int64(configuration.bufferFrames) * 1_000_000_000 / Int64(configuration.sampleRate)
    }

    /// The duration of `frames` frames, in milliseconds.
    func milliseconds(_ frames: Int64) -> Int64 { frames * 1000 / Int64(configuration.sampleRate) }

    /// Written frames of streams that were not heard yet.
    func delayFrames() throws(DeviceFault) -> Int { max(0, try device.delayFrames() - idleFrames) }

    /// Writes as much as the device has room for.
    func fill(from head: inout PlayHead) throws(DeviceFault) -> Filling {
        var room = try device.writableFrames()
        while room > 0, settleFrames > 0 {
            let written = try writeSilence(min(room, settleFrames))
            guard written > 0 else { return .full }
            settleFrames -= written
            isSettling = true
            room -= written
        }
        return try fill(upTo: room, from: &head)
    }

    /// - Parameter room: frames that the device takes.
    private func fill(upTo room: Int, from head: inout PlayHead) throws(DeviceFault) -> Filling {
        var room = room
        while room > 0 {
            switch head.read(upTo: room, where: { takes($0) }) {
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
        try device.write(frames) { destination, count in samples.renderSilence(frames: count, to: destination) }
    }

    /// Writes the first frames of a piece: all of it, or up to the end of a fade.
    /// - Returns: the frames that the device took.
    private func write(_ piece: PlayHead.Piece) throws(DeviceFault) -> Int {
        if idleFrames > 0 { try takeBackIdle() }
        if piece.switchesGain {
            samples.switchGain(to: piece.gain)
        } else if piece.gain != samples.gain {
            samples.rampGain(to: piece.gain)
        }
        stage.enter(piece.entrance, fades: fades && !configuration.isDSD)
        let frames = stage.framesAlike(piece.frames)
        samples.sourceBitDepth = stage.bitDepth(of: piece.format)
        guard stage.changes(piece.format) else {
            var next = piece.samples
            return try device.write(frames) { destination, count in
                samples.render(from: next, frames: count, to: destination)
                next += count * samples.channelCount
            }
        }
        var next = piece.samples
        return try device.write(frames) { destination, count in
            stage.pass(&next, of: piece.format, frames: count) { staged, first, frames in
                let target = destination + first * samples.channelCount * samples.format.byteCount
                samples.render(from: staged, frames: frames, to: target)
            }
        }
    }

    // MARK: Stopping. The device is prepared anew afterwards; see `PlaybackDevice`.

    func drop() throws(DeviceFault) {
        let unheard = configuration.isDSD ? try device.delayFrames() : 0
        restart(unheard: unheard)
        try device.drop()
    }

    func drain() throws(DeviceFault) {
        restart()
        try device.drain()
    }

    func recover(from fault: DeviceFault) -> Bool {
        restart()
        return device.recover(from: fault)
    }

    private func restart(unheard: Int = 0) {
        samples.restart(unheard: unheard)
        idleFrames = 0
        settleFrames = max(settleFrames, leadFrames)
    }

    /// Lets the clock continue after the last frame: DSD needs its idle pattern there, which may be taken back.
    func runOnBehindLastFrame() throws(DeviceFault) {
        guard leadFrames > 0, try device.rewindableFrames() > 0 else { return try device.runOnBehindLastFrame() }
        guard idleFrames < leadFrames else { return }
        let room = min(try device.writableFrames(), leadFrames - idleFrames)
        if room > 0 { idleFrames += try writeSilence(room) }
    }

    /// Takes back the idle pattern, so that frames follow the last one without a gap.
    /// - Throws: `.underrun` when the last frame was heard already.
    private func takeBackIdle() throws(DeviceFault) {
        let idle = idleFrames
        idleFrames = 0
        guard try device.rewindableFrames() >= idle + stage.safetyFrames, try device.rewind(idle) == idle else {
            // The device is stopped because of the error, and its frames are lost.
            samples.rewind(try device.delayFrames())
            throw .underrun
        }
        samples.rewind(idle)
    }

    // MARK: Fading out

    /// Takes back the frames that the hardware does not have yet, and writes a fade-out and silence instead. The head
    /// goes back to the first faded frame, and reads from there again.
    /// - Returns: how many frames of silence follow the fade; nil when the device cannot take back enough; then nothing
    ///   has changed.
    func fadeOut(_ head: inout PlayHead) throws(DeviceFault) -> Int? {
        guard fades else { return nil }
        if configuration.isDSD { return try becomeIdle(&head) }
        let amount = Int(min(Int64(try device.rewindableFrames() - stage.safetyFrames), head.unheard))
        guard amount >= stage.fadeFrames else { return nil }
        let fadeStart = head.written - Int64(amount)
        guard case let rewound = try device.rewind(amount), rewound > 0 else { return nil }
        samples.rewind(rewound)
        // The frames that were not taken back count as heard: they will be soon.
        _ = head.update(delayFrames: rewound)
        head.goBack()
        stage.fadeOut(from: fadeStart + Int64(amount - rewound))
        _ = try fill(upTo: min(rewound, stage.fadeFrames), from: &head)
        var silent = rewound - Int(head.written)
        let before = silent
        while silent > 0, case let written = try writeSilence(silent), written > 0 { silent -= written }
        stage.endFade()
        head.goBack()
        return before - silent
    }

    /// Takes back the frames that the hardware does not have yet, and writes the idle pattern of DSD instead.
    /// - Returns: as `fadeOut`. The idle pattern is heard for the length of a fade.
    private func becomeIdle(_ head: inout PlayHead) throws(DeviceFault) -> Int? {
        guard idleFrames == 0 else { return nil }
        let amount = Int(min(Int64(try device.rewindableFrames() - stage.safetyFrames), head.unheard))
        guard amount >= stage.fadeFrames, case let rewound = try device.rewind(amount), rewound > 0 else { return nil }
        samples.rewind(rewound)
        _ = head.update(delayFrames: rewound)
        head.goBack()
        var left = rewound
        while left > 0, case let written = try writeSilence(left), written > 0 { left -= written }
        return max(0, rewound - left - stage.fadeFrames)
    }
}
