import CALSA

/// An open playback device of alsa-lib. It cannot be copied, and its `deinit` closes the device.
///
/// Thread: one at a time.
struct PCMHandle: ~Copyable {
    /// The pointer for calls of alsa-lib; must not outlive the handle.
    let raw: OpaquePointer

    /// Opens without waiting: a device that is in use fails at once.
    init(opening device: String, configuration: ALSAConfiguration) throws(ALSAFailure) {
        tonearm_alsa_silence()
        var handle: OpaquePointer?
        switch configuration {
        case .system:
            try ALSAFailure.check(snd_pcm_open(&handle, device, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK))
        case .text(let text):
            let tree = try ConfigurationTree.parse(text)
            let code = snd_pcm_open_lconf(&handle, device, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK, tree.raw)
            try ALSAFailure.check(code)
        }
        guard let handle else { throw ALSAFailure(code: -ENODEV) }
        raw = handle
    }

    /// Takes ownership of an open PCM for playback in non-blocking mode.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { snd_pcm_close(raw) }
}
