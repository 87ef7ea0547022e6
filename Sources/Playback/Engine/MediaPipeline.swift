import Fetching
import Output
import PCM
import Platform

/// Decodes one product for the renderer: source → decoder → ring, on its own decoder thread.
///
/// A seek makes a new `PCMStream`; the old one stays as it is. Gain is applied on the audio thread and not here: a
/// change of the volume would otherwise be heard only after the ring's content.
///
/// Thread: control. `DecoderWorker` is the other side.
/// `@unchecked Sendable` is safe because only control uses its mutable state; the decoder thread has its own objects.
final class MediaPipeline: @unchecked Sendable {
    /// A report from the decoder thread to control. `seek` is the last seek that the thread has received.
    enum Report {
        /// The audio is in this stream, and begins at the product's start or at the target of a seek.
        case ready(PlaybackContext, ProductLoudness, PCMStream, seek: Int)
        /// Nothing more will be decoded. `hasFrames`: the last stream has frames that can be heard first.
        case failed(PlayerError, hasFrames: Bool, seek: Int)
        /// The last stream has another representation from this position of the product on, in seconds.
        case representationChanged(AudioRepresentation, at: Double)
        /// All of the product has arrived.
        case fetched
        /// The source has begun a new session, with this id.
        case sessionRenewed(String)
        /// A fetch for the session has begun or ended.
        case fetch(FetchReport)
    }

    /// The id of the first session.
    let firstSession: String
    private let requests: DecoderRequests
    /// Number of the last seek.
    private var lastSeek = 0

    /// Starts the decoder thread, which opens the product.
    /// - Parameters:
    ///   - newSessionID: returns the id of the playback session, and of the sessions that replace it.
    ///   - deviceMilliseconds: the length of the device's buffer, which the rings must be able to hold.
    ///   - device: the open device, or the last one that was open; nil before the first.
    ///   - rates: the rates at which it plays.
    ///   - report: called on the decoder thread.
    init(
        _ product: MediaProduct, from source: any PlaybackSource, newSessionID: @escaping @Sendable () -> String,
        deviceMilliseconds: Int, device: DeviceConfiguration?, rates: DeviceRates,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        let requests = try DecoderRequests()
        self.requests = requests
        // Set before the thread starts, because the thread selects the first representation for the device.
        requests.medium.device.set(rates)
        requests.medium.device.set(device)
        let session = PlaybackSession(
            newID: newSessionID, renewed: { report(.sessionRenewed($0)) }, fetched: { report(.fetch($0)) })
        firstSession = session.id
        _ = try NamedThread.start(name: "decoder", stackSize: 256 * 1024) {
            let worker = DecoderWorker(
                product: product, session: session, deviceMilliseconds: deviceMilliseconds, requests: requests,
                report: report)
            worker.run(source)
            requests.ended()
        }
    }

    /// Ends the decoder thread as soon as it can, without waiting for it.
    func cancel() { requests.cancellation.cancel() }

    /// Produces audio from `seconds` on in a new stream. A later seek replaces an earlier one.
    func seek(toSeconds seconds: Double) {
        lastSeek += 1
        requests.ask(.position(seconds: seconds, number: lastSeek))
    }

    /// Whether a later seek makes this report outdated: another report will follow.
    func isOutdated(_ report: Report) -> Bool {
        switch report {
        case .ready(_, _, _, let seek): seek != lastSeek
        // Without frames the decoder thread has ended.
        case .failed(_, let hasFrames, let seek): hasFrames && seek != lastSeek
        case .sessionRenewed, .representationChanged, .fetched, .fetch: false
        }
    }

    /// Marks the stream's end after a failure, so that its frames are heard.
    func finish() { requests.ask(.finish) }

    /// Whether the decoder thread waits for the product's medium now. Any thread.
    var isWaitingForMedium: Bool { requests.medium.isWaiting }

    /// See `DecoderRequests.beat`. Any thread.
    var decoderBeat: UInt32? { requests.beat }

    /// The progress of the product's transfers.
    var stream: StreamProgress { requests.medium.stream }

    /// The device that plays the product.
    var device: PlayingDevice { requests.medium.device }

    /// Whether the renderer takes frames now. While it takes none, a full ring is not checked again.
    func setPlaying(_ isPlaying: Bool) { requests.setPlaying(isPlaying) }
}
