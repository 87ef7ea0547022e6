import CALSA

/// An open playback device of alsa-lib. Closing is its end; it cannot be copied.
///
/// Thread: one at a time.
struct PCMHandle: ~Copyable {
    /// For calls of alsa-lib; not to be kept longer than the handle.
    let raw: OpaquePointer

    /// Opens without waiting: a device that is taken answers at once.
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

    /// Takes over a PCM that is open, playing back and not blocking.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { snd_pcm_close(raw) }
}
