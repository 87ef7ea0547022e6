/// The settings of the sound, and of playback.
extension Setting {
    static let ofSound = [
        Setting(
            .device, "audio", "device", .text, "auto", changesWhileRunning: true,
            """
            The device: hw:CARD=id as `tonearm devices` lists it. With auto the board profile's card is taken, and
            without one the device of the lowest rank: a USB DAC, else a DAC on the header.
            """),
        Setting(
            .sampleFormat, "audio", "sample-format",
            .choice(["auto", "S32_LE", "S24_LE", "S24_3LE", "S16_LE", "IEC958_SUBFRAME_LE"]), "auto",
            """
            The sample format of the device. With auto it is the widest one that the device has.
            """),
        Setting(
            .buffer, "audio", "buffer", .duration(20...2000), "200 ms",
            """
            The length of the device's buffer. A longer one tolerates more load, a shorter one reacts to buttons sooner.
            """),
        Setting(
            .periods, "audio", "periods", .integer(2...16), "4",
            """
            The number of parts of the buffer. The buffer is refilled when half of it was played.
            """),
        Setting(
            .mixerControl, "audio", "mixer-control", .text, "auto",
            """
            The card's control for the volume. With auto it is the profile's, or the card's usual one.
            """),
        Setting(
            .volumeRoute, "audio", "volume-route", .choice(["auto", "software"]), "auto",
            """
            Where the volume is set. With auto it is the card's own control, if it has one, so that the samples
            do not change; software scales the samples and leaves the control alone.
            """),
        Setting(
            .maximumVolume, "audio", "maximum-volume", .percent(1...100), "100 %", changesWhileRunning: true,
            """
            The limit of the volume for buttons, knobs and clients.
            """),
        Setting(
            .firstVolume, "audio", "first-volume", .decibels(-60...0), "-30 dB",
            """
            The volume while none is known: at the very first start, or when the stored one was lost. A card whose own
            volume control somebody has set keeps that volume instead.
            """),
        Setting(
            .realtimePriority, "audio", "realtime-priority", .integer(0...99), "40",
            """
            The priority of the audio thread (SCHED_FIFO); 0 for normal scheduling. The unit file permits it.
            """),
        Setting(
            .fades, "audio", "fades", .choice(["on", "off"]), "on",
            """
            Whether pause, seek and skip fade out and in over 5 ms, so that nothing clicks. Boundaries between tracks
            are never faded.
            """),
        Setting(
            .adaptation, "audio", "adaptation", .choice(["on", "off"]), "on",
            """
            Music with a channel count that the card does not have: with on its channels are adapted to the card's, and
            the status says so; with off it is an error. Other music reaches the card unchanged either way.
            """),
        Setting(
            .channels, "audio", "channels", .choice(["stereo", "swapped", "mono", "left", "right"]), "stereo",
            """
            What the two front channels play: each its own side; swapped, for crossed cables; mono, the mean of both,
            for a single speaker; or one side on both, for two boards that are a pair.
            """),
        Setting(
            .resampling, "audio", "resampling", .choice(["very-high", "high", "off"]), "very-high",
            """
            Music with a sample rate that the card does not have: it is converted with this quality, and the status says
            so; with off it is an error. Other music reaches the card unchanged either way.
            """),
        Setting(
            .rate, "audio", "rate", .integer(0...768_000), "0",
            """
            Converts all music to this sample rate, in Hz, for a card that other programs use as well; 0 leaves each
            rate as it is.
            """),
        Setting(
            .highestRate, "audio", "highest-rate", .integer(0...768_000), "0",
            """
            Higher sample rates of the card are not used, in Hz: some converters claim more than they do; 0 for no
            limit.
            """),
        Setting(
            .dsd, "audio", "dsd", .choice(["pcm", "dop"]), "pcm",
            """
            How DSD (DSF, DFF) is played: decoded to PCM, or with dop bit for bit as DSD over PCM, where the card has
            24 bits and 176.4 kHz (twice that for DSD128). A card cannot say whether its converter understands that:
            one that does not plays it as noise. Neither the volume in software nor normalization apply to it.
            """),
        Setting(
            .normalization, "audio", "normalization", .choice(["off", "track", "album"]), "album",
            changesWhileRunning: true,
            """
            Brings all products to one loudness: each for itself (track), or albums as a whole, so that quiet movements
            stay quiet. With off and full volume every sample reaches the device as it was recorded.
            """),
        Setting(
            .preAmp, "audio", "pre-amp", .decibels(-30...30), "4 dB", changesWhileRunning: true,
            """
            Added to the loudness of normalized music.
            """),
        Setting(
            .untaggedGain, "audio", "untagged-gain", .decibels(-20...6), "0 dB", changesWhileRunning: true,
            """
            The gain of normalized files whose loudness is neither in their tags nor measured by `tonearm loudness`.
            A gain above 0 dB may clip loud music.
            """),
        Setting(
            .resume, "player", "resume", .choice(["playing", "paused", "empty"]), "playing",
            changesWhileRunning: true,
            """
            What a start does with the stored queue. playing resumes at the old position, if it was playing; paused
            waits there for a button; empty starts with an empty queue.
            """),
        Setting(
            .state, "player", "state", .path(orWord: nil), "/var/lib/tonearm",
            """
            The folder for the state that is kept across restarts: queue, position, volume. Two daemons cannot share it.
            """),
    ]
}
