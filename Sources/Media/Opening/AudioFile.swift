import Platform

/// The entry point: opens bytes that may be audio.
public enum AudioFile {
    /// Recognises the container in `source` by its content, never by a name, reads the headers and tags, and returns
    /// its decoder, at the first frame.
    ///
    /// Supported are FLAC, WAV (RIFF, RF64, BW64 and Wave64), AIFF (also AIFF-C), MPEG audio of layers II and III, Ogg
    /// (with Vorbis, Opus or FLAC), WavPack, DSF, DFF and ADTS (AAC). MP4 and QuickTime are supported with FLAC, ALAC,
    /// AAC, MP3, Opus or PCM, and Matroska and WebM with all of these. Each may follow ID3v2 tags. AAC is AAC-LC,
    /// HE-AAC and HE-AAC v2, and needs the package trait `AAC`. FLAC, MPEG audio, Ogg, WavPack and ADTS are also found
    /// after up to 64 KiB of other bytes. FLAC is also found without its header.
    /// - Parameters:
    ///   - licenses: for encrypted content.
    ///   - cancellation: ends a wait for bytes that are not there yet.
    /// - Throws: `.empty`; `.notAudio` for other content; `.unsupported` or `.damaged` when the headers show that it
    ///   cannot be decoded; `.protected` for encrypted content without `licenses`; the errors of `licenses`; `.source`
    ///   when the bytes cannot be read, also when it is cancelled.
    ///
    /// Thread: the decoder thread. It blocks in `source`, and waits for it.
    public static func open(
        _ source: any ByteSource, licenses: (any LicenseProvider)? = nil, cancellation: Cancellation? = nil
    ) throws(MediaError) -> any AudioDecoder {
        try open(AudioOpening(source, licenses: licenses), cancellation)
    }

    /// The decoder of segments, at the first frame of the first one.
    ///
    /// Supported are segments of ISO base media (DASH, HLS with `EXT-X-MAP`), packed AAC and MP3 (HLS), and a single
    /// segment with a file of any kind.
    /// - Parameters:
    ///   - licenses: for encrypted content.
    ///   - cancellation: ends a wait for bytes that are not there yet.
    /// - Throws: as `open` of one source; `.unsupported` also for segments of another kind.
    ///
    /// Thread: the decoder thread. It blocks in `segments`, and waits for it.
    public static func open(
        _ segments: any SegmentedSource, licenses: (any LicenseProvider)? = nil, cancellation: Cancellation? = nil
    ) throws(MediaError) -> any AudioDecoder {
        try open(AudioOpening(segments, licenses: licenses), cancellation)
    }

    private static func open(
        _ opening: AudioOpening, _ cancellation: Cancellation?
    ) throws(MediaError) -> any AudioDecoder {
        while true {
            if let decoder = try opening.attempt() { return decoder }
            try wait(for: opening, cancellation)
        }
    }

    /// Recognises the content of `source` by its first bytes only. This is quick, and `open` may still fail.
    /// - Throws: `.empty`, `.notAudio`, `.unsupported` for a format of audio that is not played, or `.source`.
    ///
    /// Thread: any. It blocks in `source`, and waits for it.
    public static func container(of source: any ByteSource) throws(MediaError) -> AudioProperties.Container {
        let opening = AudioOpening(source)
        while true {
            if let container = try opening.attemptToRecognise() { return container }
            try wait(for: opening, nil)
        }
    }

    /// Waits until another read can succeed.
    private static func wait(for opening: AudioOpening, _ cancellation: Cancellation?) throws(MediaError) {
        do throws(SystemError) {
            let arrival = try WakeUp()
            opening.whenReadable { arrival.signal() }
            guard let cancellation else {
                _ = arrival.wait(milliseconds: -1)
                return
            }
            let outcome = try cancellation.wait(for: arrival.descriptor, .readable, milliseconds: -1)
            if outcome != .cancelled { return }
        } catch {
            throw .source(.medium(error))
        }
        throw .source(.cancelled)
    }
}
