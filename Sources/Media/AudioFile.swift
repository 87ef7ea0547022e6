import Platform

/// The way in: bytes that may be audio.
public enum AudioFile {
    /// Finds out by the content, never by a name, what `source` holds, reads the headers and tags, and gives the
    /// decoder for it, which stands at the first frame.
    ///
    /// FLAC, WAV (RIFF and RF64) and AIFF (also AIFF-C) are recognised, each also behind ID3v2 tags. FLAC is also
    /// found behind up to 64 KiB of other bytes, and without its header.
    /// - Parameter cancellation: ends a wait for bytes that are not there yet.
    /// - Throws: `.empty`; `.notAudio` for everything that is none of these; `.unsupported` or `.damaged` when the
    ///   headers tell that it cannot be decoded; `.source` when the bytes cannot be read, also when it is cancelled.
    ///
    /// Thread: the decoder thread. It blocks in `source`, and waits for it.
    public static func open(
        _ source: any ByteSource, cancellation: Cancellation? = nil
    ) throws(MediaError) -> any AudioDecoder {
        let opening = AudioOpening(source)
        while true {
            if let decoder = try opening.attempt() { return decoder }
            try wait(for: source, cancellation)
        }
    }

    /// What `source` holds, by its first bytes alone: the quick question before `open`, which may still find that it
    /// cannot be decoded.
    /// - Throws: `.empty`, `.notAudio`, or `.source`.
    ///
    /// Thread: any. It blocks in `source`, and waits for it.
    public static func container(of source: any ByteSource) throws(MediaError) -> AudioProperties.Container {
        let opening = AudioOpening(source)
        while true {
            if let container = try opening.attemptToRecognise() { return container }
            try wait(for: source, nil)
        }
    }

    /// Waits until it is worth reading again.
    private static func wait(for source: any ByteSource, _ cancellation: Cancellation?) throws(MediaError) {
        do throws(SystemError) {
            let arrival = try WakeUp()
            source.whenReadable { arrival.signal() }
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
