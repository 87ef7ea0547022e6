import CALSA
import CLinux

/// When the clock starts and stops, and whether silence is played when there are no frames (`snd_pcm_sw_params_t`).
struct SoftwareParameters: ~Copyable {
    /// Whether silence follows the written frames.
    private(set) var isSilentBehind = false
    /// Whether the clock continues after the last frame.
    private(set) var runsOn = false

    private let raw: OpaquePointer
    private let pcm: OpaquePointer

    /// Call it only after the hardware parameters are installed.
    init(of handle: borrowing PCMHandle) throws(ALSAFailure) {
        var raw: OpaquePointer?
        try ALSAFailure.check(snd_pcm_sw_params_malloc(&raw))
        guard let raw else { throw ALSAFailure(code: -ENOMEM) }
        self.raw = raw
        pcm = handle.raw
    }

    deinit { snd_pcm_sw_params_free(raw) }

    /// The clock starts by a call, and stops when the buffer is empty. A wait ends when half of the buffer has room.
    /// Played frames are overwritten with silence, so that a late writer causes a pause and not a repetition of the
    /// last 200 ms.
    mutating func install(bufferFrames: Int, periodFrames: Int) throws(ALSAFailure) {
        try ALSAFailure.check(snd_pcm_sw_params_current(pcm, raw))
        let boundary = try boundary()
        try ALSAFailure.check(snd_pcm_sw_params_set_start_threshold(pcm, raw, boundary))
        try ALSAFailure.check(snd_pcm_sw_params_set_stop_threshold(pcm, raw, snd_pcm_uframes_t(bufferFrames)))
        // Every wake-up costs more than the frames that it writes, and half a buffer is enough time for a late one.
        let wakeUpFrames = snd_pcm_uframes_t(max(periodFrames, bufferFrames / 2))
        try ALSAFailure.check(snd_pcm_sw_params_set_avail_min(pcm, raw, wakeUpFrames))
        // The kernel refuses a threshold when the silence size is the whole boundary; plug-ins may refuse both.
        if snd_pcm_sw_params_set_silence_threshold(pcm, raw, 0) == 0,
            snd_pcm_sw_params_set_silence_size(pcm, raw, boundary) == 0,
            snd_pcm_sw_params(pcm, raw) == 0
        {
            isSilentBehind = true
            return
        }
        _ = snd_pcm_sw_params_set_silence_size(pcm, raw, 0)
        try ALSAFailure.check(snd_pcm_sw_params(pcm, raw))
    }

    /// After `install`: whether the clock continues when the buffer is empty. Does not allocate.
    /// - Returns: alsa-lib's code; below 0, nothing changed.
    mutating func setRunsOn(_ runsOn: Bool, bufferFrames: Int) -> Int32 {
        var threshold = snd_pcm_uframes_t(bufferFrames)
        if runsOn {
            let code = snd_pcm_sw_params_get_boundary(raw, &threshold)
            if code < 0 { return code }
        }
        var code = snd_pcm_sw_params_set_stop_threshold(pcm, raw, threshold)
        if code >= 0 { code = snd_pcm_sw_params(pcm, raw) }
        if code >= 0 { self.runsOn = runsOn }
        return code
    }

    private func boundary() throws(ALSAFailure) -> snd_pcm_uframes_t {
        var boundary: snd_pcm_uframes_t = 0
        try ALSAFailure.check(snd_pcm_sw_params_get_boundary(raw, &boundary))
        return boundary
    }
}
