import Output
import PCM
import Platform

/// One product on its way to the renderer: source → decoder → ring, on a decoder thread of its own.
///
/// A seek makes a new `PCMStream`; the old one is left as it is. Gain is not applied here but on the audio thread, or a
/// turn of the volume knob would be heard a ring's length later.
///
/// Thread: control. `DecoderWorker` is the other side of it.
/// `@unchecked Sendable` is safe because control alone uses what changes; the decoder thread has its own objects.
final class MediaPipeline: @unchecked Sendable {
    /// What the decoder thread tells control. `seek` is the last one that it knew of.
    enum Report {
        /// The audio comes in this stream: from the product's start, or from where a seek went.
        case ready(PlaybackContext, ReplayGain, PCMStream, seek: Int)
        /// Nothing more will be decoded. `hasFrames`: the last stream holds some that can be heard first.
        case failed(PlayerError, hasFrames: Bool, seek: Int)
    }

    private let requests: DecoderRequests
    /// Number of the last seek.
    private var lastSeek = 0

    /// Starts the decoder thread, which begins to open the product.
    /// - Parameters:
    ///   - sessionID: of the playback session that the product's context carries.
    ///   - deviceMilliseconds: length of the device's buffer, for which the rings make room.
    ///   - report: called on the decoder thread.
    init(
        _ product: MediaProduct, from source: any PlaybackSource, sessionID: String, deviceMilliseconds: Int,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        let requests = try DecoderRequests()
        self.requests = requests
        _ = try NamedThread.start(name: "decoder", stackSize: 256 * 1024) {
            let worker = DecoderWorker(
                product: product, sessionID: sessionID, deviceMilliseconds: deviceMilliseconds, requests: requests,
                report: report)
            worker.run(source)
        }
    }

    /// Ends the decoder thread as soon as it can, without waiting for it.
    func cancel() { requests.cancellation.cancel() }

    /// Produces audio from `seconds` on in a new stream. The last request counts.
    func seek(toSeconds seconds: Double) {
        lastSeek += 1
        requests.ask(.position(seconds: seconds, number: lastSeek))
    }

    /// Whether a later seek has made a report pointless: there will be another one.
    func isOutdated(_ report: Report) -> Bool {
        switch report {
        case .ready(_, _, _, let seek): seek != lastSeek
        // Without frames the decoder thread has ended.
        case .failed(_, let hasFrames, let seek): hasFrames && seek != lastSeek
        }
    }

    /// After a failure: marks the stream's end, so that what it holds is heard out.
    func finish() { requests.ask(.finish) }

    /// Whether the decoder thread is in its source now, which may block. Any thread.
    var isReading: Bool { requests.isReading }

    /// Whether the renderer takes frames now. Otherwise a full ring needs no looking at.
    func setPlaying(_ isPlaying: Bool) { requests.setPlaying(isPlaying) }
}
