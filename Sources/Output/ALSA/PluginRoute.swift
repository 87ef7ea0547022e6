import CALSA

extension DeviceRoute {
    /// - Parameter type: the outermost type of a device. The types after it are not available.
    init(_ type: snd_pcm_type_t) {
        switch type {
        case SND_PCM_TYPE_HW, SND_PCM_TYPE_FILE, SND_PCM_TYPE_NULL: self = .direct
        // PulseAudio, PipeWire and JACK are `ioplug`.
        case SND_PCM_TYPE_IOPLUG, SND_PCM_TYPE_DMIX, SND_PCM_TYPE_DSHARE, SND_PCM_TYPE_SHARE, SND_PCM_TYPE_SHM:
            self = .server
        default: self = .plugIn
        }
    }
}
