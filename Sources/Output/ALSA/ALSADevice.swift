import CALSA
import CLinux
import PCM
import Platform

/// A playback device of alsa-lib in non-blocking mode: frames are written when there is room, and waiting uses poll(2).
final class ALSADevice: PlaybackDevice {
    let configuration: DeviceConfiguration

    /// The handle; nil once closed.
    private var handle: PCMHandle?
    /// The content of `handle`; valid until `close`.
    private let pcm: OpaquePointer
    private let descriptors: PollDescriptors
    /// Whether this is the `file` plug-in.
    private let isFile: Bool
    /// Whether this is a sound card and not a plug-in.
    let isAudible: Bool
    /// The staging buffer; nil when the device's memory is mapped.
    private var staging: StagingBuffer?
    private var software: SoftwareParameters
    private let clock: any MonotonicClock

    /// - Parameter handle: a handle whose hardware parameters are installed as in `configuration`.
    init(
        _ handle: consuming PCMHandle, configuration: DeviceConfiguration, clock: any MonotonicClock
    ) throws(ALSAFailure) {
        software = try SoftwareParameters(of: handle)
        try software.install(bufferFrames: configuration.bufferFrames, periodFrames: configuration.periodFrames)
        self.clock = clock
        let descriptors = try PollDescriptors(of: handle)
        pcm = handle.raw
        isFile = snd_pcm_type(pcm) == SND_PCM_TYPE_FILE
        isAudible = snd_pcm_type(pcm) == SND_PCM_TYPE_HW
        self.handle = consume handle
        self.descriptors = descriptors
        self.configuration = configuration
        if !configuration.memoryMapped {
            let frameBytes = configuration.channelCount * configuration.sampleFormat.byteCount
            staging = try StagingBuffer(frameCapacity: configuration.bufferFrames, frameBytes: frameBytes)
        }
    }

    func close() { handle = nil }

    // MARK: Writing

    func writableFrames() throws(DeviceFault) -> Int {
        // A suspended device with mapped memory still reports room; only its state shows the fault.
        if let fault = state.fault { throw fault }
        let room = snd_pcm_avail_update(pcm)
        try check(room)
        return max(0, min(room, configuration.bufferFrames) - stagedFrames)
    }

    func write(
        _ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void
    ) throws(DeviceFault) -> Int {
        // Frames after the last frame cannot follow without a gap, so this is an underrun.
        if software.runsOn {
            let room = snd_pcm_avail_update(pcm)
            try setRunsOn(false)
            if let fault = state.fault { throw fault }
            if room >= configuration.bufferFrames { throw .underrun }
        }
        return configuration.memoryMapped ? try writeMapped(frames, fill) : try writeStaged(frames, fill)
    }

    private func writeMapped(
        _ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void
    ) throws(DeviceFault) -> Int {
        var written = 0
        while written < frames {
            var areas: UnsafePointer<snd_pcm_channel_area_t>?
            var offset: snd_pcm_uframes_t = 0
            var room = snd_pcm_uframes_t(frames - written)
            try check(Int(snd_pcm_mmap_begin(pcm, &areas, &offset, &room)))
            guard room > 0, let first = areas?.pointee, let start = first.addr else { break }
            // `first` and `step` are in bits; the channels of a frame lie side by side.
            fill(start + Int(first.first / 8) + Int(offset) * Int(first.step / 8), Int(room))
            let committed = try writing { snd_pcm_mmap_commit(pcm, offset, room) }
            try check(committed)
            // alsa-lib commits only a part when an underrun happens during the commit.
            guard committed == Int(room) else { throw .underrun }
            written += committed
        }
        return written
    }

    private func writeStaged(
        _ frames: Int, _ fill: (_ destination: UnsafeMutableRawPointer, _ frames: Int) -> Void
    ) throws(DeviceFault) -> Int {
        try pushStaged()
        guard stagedFrames == 0 else { return 0 }
        let amount = min(frames, try writableFrames(), configuration.bufferFrames)
        guard amount > 0 else { return 0 }
        staging?.fill(amount, fill)
        try pushStaged()
        return amount
    }

    /// Writes as many staged frames as the device takes. The rest stays for the next call.
    private func pushStaged() throws(DeviceFault) {
        guard stagedFrames > 0, let next = staging?.next else { return }
        let frames = snd_pcm_uframes_t(stagedFrames)
        let taken = try writing { snd_pcm_writei(pcm, next, frames) }
        if taken == -Int(EAGAIN) { return }
        try check(taken)
        staging?.consume(taken)
    }

    // MARK: The clock

    func start() throws(DeviceFault) {
        switch state {
        case .running, .draining: return
        case .prepared: try check(Int(snd_pcm_start(pcm)))
        case let other: throw other.fault ?? .failed(code: -EBADFD)
        }
    }

    /// The largest plausible delay, in frames: 20 seconds at the highest rate. More is a fault of the driver, and
    /// arithmetic on it may overflow.
    private static let longestDelay = 1 << 24

    func delayFrames() throws(DeviceFault) -> Int {
        var delay: snd_pcm_sframes_t = 0
        let code = snd_pcm_delay(pcm, &delay)
        if code == -EPIPE { return 0 }
        try check(Int(code))
        return min(max(0, delay), Self.longestDelay) + stagedFrames
    }

    func wait(wakeUp: Int32, milliseconds: Int32) throws(DeviceFault) -> Bool {
        guard descriptors.wait(wakeUp: wakeUp, milliseconds: milliseconds) == .error else {
            return descriptors.wasWoken
        }
        // Throws even in a state without a fault, because the device would report the same error without end.
        throw state.fault ?? .failed(code: -EIO)
    }

    // MARK: Stopping

    func runOnBehindLastFrame() throws(DeviceFault) {
        // The `file` plug-in has no clock, and the silence would be written into the file.
        guard !software.runsOn, software.isSilentBehind, !isFile, stagedFrames == 0, state == .running else { return }
        try setRunsOn(true)
    }

    private func setRunsOn(_ runsOn: Bool) throws(DeviceFault) {
        try check(Int(software.setRunsOn(runsOn, bufferFrames: configuration.bufferFrames)))
    }

    func drop() throws(DeviceFault) {
        staging?.clear()
        try check(try writing { Int(snd_pcm_drop(pcm)) })
        if software.runsOn { try setRunsOn(false) }
        try check(Int(snd_pcm_prepare(pcm)))
    }

    func rewindableFrames() throws(DeviceFault) -> Int {
        // Staged frames come after the frames that can be taken back.
        guard configuration.memoryMapped, state == .running else { return 0 }
        return max(0, snd_pcm_rewindable(pcm))
    }

    func rewind(_ frames: Int) throws(DeviceFault) -> Int {
        let taken = snd_pcm_rewind(pcm, snd_pcm_uframes_t(frames))
        try check(taken)
        return taken
    }

    func drain() throws(DeviceFault) {
        // Waits for twice the length of the buffer, because drivers may end with a whole period and the clock may start
        // only now.
        let bufferMilliseconds = Int64(configuration.bufferFrames) * 1000 / Int64(configuration.sampleRate)
        let deadline = Deadline(milliseconds: 2 * bufferMilliseconds + 100, clock)
        let heard = try playOut(until: deadline)
        // The `file` plug-in writes its remaining frames when it is dropped, whether its slave was drained or not.
        try drop()
        if !heard { throw .failed(code: -ETIMEDOUT) }
    }

    /// - Returns: false when the device stopped taking frames.
    private func playOut(until deadline: Deadline) throws(DeviceFault) -> Bool {
        while stagedFrames > 0 {
            try start()
            let event = descriptors.wait(wakeUp: -1, milliseconds: deadline.remainingMilliseconds)
            if event == .error, let fault = state.fault { throw fault }
            try pushStaged()
            if deadline.isOver { return false }
        }
        while true {
            // Calls it repeatedly, because plug-ins notice the end only in a call.
            let code = Int32(try writing { Int(snd_pcm_drain(pcm)) })
            // The buffer was empty before the drain began, so everything was heard.
            if code == 0 || code == -EPIPE { return true }
            guard code == -EAGAIN else { throw DeviceFault(code: code, state: state) }
            if deadline.isOver { return false }
            let event = descriptors.wait(wakeUp: -1, milliseconds: deadline.remainingMilliseconds)
            if state == .suspended || state == .disconnected, let fault = state.fault { throw fault }
            // Pauses briefly, because the descriptors of plug-ins may always be ready.
            if event != .none, state == .draining { poll(nil, 0, 5) }
        }
    }

    // MARK: Recovery

    func recover(from fault: DeviceFault) -> Bool {
        staging?.clear()
        if software.runsOn, fault != .vanished {
            _ = software.setRunsOn(false, bufferFrames: configuration.bufferFrames)
        }
        var recovery = Recovery(from: fault)
        var code: Int32 = 0
        while true {
            switch recovery.next(state: state, code: code) {
            case .prepare:
                code = snd_pcm_prepare(pcm)
            case .dropAndPrepare:
                code = snd_pcm_drop(pcm)
                if code == 0 { code = snd_pcm_prepare(pcm) }
            case .waitAndResume:
                poll(nil, 0, Recovery.resumeInterval)
                code = snd_pcm_resume(pcm)
            case .resume:
                code = snd_pcm_resume(pcm)
            case .succeeded:
                return true
            case .gone:
                return false
            }
        }
    }

    private var stagedFrames: Int { staging?.count ?? 0 }

    private var state: PCMState { PCMState(snd_pcm_state(pcm)) }

    /// Calls a function of alsa-lib that may write to a file.
    /// - Returns: its result.
    private func writing(_ call: () -> Int) throws(DeviceFault) -> Int {
        guard isFile else { return call() }
        var result = 0
        let error = FilePlugin.writeError { result = call() }
        if error != 0 { throw .spoiled(code: -error) }
        return result
    }

    private func check(_ result: Int) throws(DeviceFault) {
        if result < 0 { throw DeviceFault(code: Int32(clamping: result), state: state) }
    }
}

/// A point in time of a clock.
private struct Deadline {
    private let clock: any MonotonicClock
    private let end: Int64

    init(milliseconds: Int64, _ clock: any MonotonicClock) {
        self.clock = clock
        end = clock.now() + milliseconds * 1_000_000
    }

    /// The remaining milliseconds; at least 0.
    var remainingMilliseconds: Int32 { Int32(clamping: max(0, (end - clock.now() + 999_999) / 1_000_000)) }
    var isOver: Bool { remainingMilliseconds == 0 }
}
