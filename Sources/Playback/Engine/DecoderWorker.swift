import Media
import Output
import PCM
import Platform
import Synchronization

/// The decoder thread of one product: opens it, decodes it into a ring, and restarts at the position that control
/// requests.
///
/// Thread: only the decoder thread.
final class DecoderWorker {
    /// The reasons for ending a run of decoding early.
    private enum EarlyEnd: Error {
        case cancelled
        case reposition(Start)
        case failed(MediaError)
        case outOfMemory(OutOfMemory)
    }

    /// Where a run of decoding begins.
    private struct Start {
        /// The position in seconds; nil for the decoder's current position.
        var position: Double?
        /// The number of the seek that requested it.
        var seek = 0
    }

    /// The longest sleep in milliseconds before the ring is checked again: well below the duration of a full ring.
    private static let longestSleep = 1000
    /// The greatest position in seconds: 30 years. It stands for the end of a product whose length is unknown or
    /// greater.
    static let farthestPosition = 1e9
    private static let lastStreamID = Atomic<UInt64>(0)

    private let product: MediaProduct
    private let session: PlaybackSession
    private let deviceMilliseconds: Int
    private let requests: DecoderRequests
    private let report: (MediaPipeline.Report) -> Void
    private var pacer = RefillPacer(longestSleep: longestSleep)
    /// The damage that was reported: it is not reported again after a seek.
    private var reportedDamage = DamageReport()
    private var hasReportedFetched = false
    /// The representation of the frames that were decoded last.
    private var representation: AudioRepresentation?
    /// The representation of the first frames, with the quality that the source named for it.
    private var opening: AudioRepresentation?

    init(
        product: MediaProduct, session: PlaybackSession, deviceMilliseconds: Int, requests: DecoderRequests,
        report: @escaping (MediaPipeline.Report) -> Void
    ) {
        self.product = product
        self.session = session
        self.deviceMilliseconds = deviceMilliseconds
        self.requests = requests
        self.report = report
    }

    func run(_ source: any PlaybackSource) {
        let opened: OpenedProduct
        do throws(PlayerError) {
            opened = try source.open(
                product, session: session, cancellation: requests.cancellation, medium: requests.medium)
        } catch {
            return fail(error, hasFrames: false, seek: 0)
        }
        produce(opened)
    }

    private func produce(_ opened: OpenedProduct) {
        var start = requestedStart() ?? Start()
        let device = requests.medium.device
        let decoder = RateConvertedDecoder(
            opened.decoder, quality: device.rateQuality, takesDSD: { device.takes(dsd: $0) },
            deviceRate: { device.rate(for: $0) })
        while true {
            var stream: PCMStream?
            do throws(EarlyEnd) {
                let begun = try begin(decoder, at: start.position)
                stream = begun
                report(.ready(context(of: opened, decoder, begun), opened.loudness, begun, seek: start.seek))
                try decode(opened, decoder, into: begun)
                try waitForPosition()
            } catch {
                switch error {
                case .cancelled:
                    return
                case .reposition(let next):
                    start = next
                case .outOfMemory(let error):
                    return fail(PlayerError(error, product), hasFrames: false, seek: start.seek)
                case .failed(let error):
                    let hasFrames = (stream?.ring.writePosition ?? 0) > 0
                    fail(
                        opened.fetching?.failure ?? PlayerError(error, product), hasFrames: hasFrames, seek: start.seek)
                    guard hasFrames, let ring = stream?.ring, let next = finish(ring) else { return }
                    start = next
                }
            }
        }
    }

    /// Makes a stream from `position` on, in seconds; nil for a decoder at its beginning.
    private func begin(_ decoder: RateConvertedDecoder, at position: Double?) throws(EarlyEnd) -> PCMStream {
        decoder.chooseSource()
        let properties = decoder.source.properties
        let rate = Int64(properties.format.sampleRate)
        let end = min(properties.duration ?? Self.farthestPosition, Self.farthestPosition)
        let target = position.map { Int64((min($0, end) * Double(rate)).rounded()) }
        do throws(MediaError) { try decoder.begin(at: target) } catch { throw .failed(error) }
        let frame = target ?? 0
        do throws(OutOfMemory) {
            return try PCMStream(
                id: Self.lastStreamID.add(1, ordering: .relaxed).newValue, format: decoder.format,
                startPosition: frame / rate * 1_000_000_000 + frame % rate * 1_000_000_000 / rate,
                deviceMilliseconds: deviceMilliseconds)
        } catch {
            throw .outOfMemory(error)
        }
    }

    /// Decodes to the end of the product and marks it.
    private func decode(
        _ opened: OpenedProduct, _ decoder: RateConvertedDecoder, into stream: PCMStream
    ) throws(EarlyEnd) {
        let ring = stream.ring
        var format = decoder.format
        var seconds = Double(stream.startPosition) / 1e9
        try waitForEnough(opened, at: seconds)
        while true {
            while case let region = ring.writableRegion(), region.count >= format.channelCount {
                try check()
                let run = try read(decoder, into: region)
                switch run {
                case .frames(let frames):
                    ring.commit(frames * format.channelCount)
                    reportEncoding(of: opened, decoder.sourceFormat, at: seconds)
                    reportFetched(opened)
                    seconds += Double(frames) / Double(format.sampleRate)
                case .format(let new):
                    format = new
                    try put(.format(new), into: ring)
                case .notYet:
                    try waitForBytes(decoder.source)
                    // A seek ends the wait too: the bytes at its target may have arrived.
                    try check()
                    // The ring is empty, so these bytes came too late and playback has stalled.
                    if ring.isEmpty { try waitForEnough(opened, at: seconds) }
                case .end:
                    reportFetched(opened, isAtEnd: true)
                    report(decoder.source.damage)
                    return try put(.end, into: ring)
                }
            }
            repeat {
                requests.wakeAtEndOfTransfer()
                opened.fetching?.fetchAhead()
                reportFetched(opened)
                try sleep()
            } while ring.freeSamples < ring.refillSamples
            pacer.refilled()
        }
    }

    /// Sleeps until the decoder's source can be read again, or a request of control arrives.
    private func waitForBytes(_ decoder: any AudioDecoder) throws(EarlyEnd) {
        decoder.whenReadable { [requests] in requests.wake() }
        guard requests.medium.waiting({ requests.waitForRequest() }) else { throw .cancelled }
    }

    /// Sleeps until enough has arrived for playback not to run dry (docs/playback.md, 15.14).
    private func waitForEnough(_ opened: OpenedProduct, at seconds: Double) throws(EarlyEnd) {
        while true {
            requests.wakeAtBytes()
            opened.fetching?.fetchAhead()
            if opened.fetching?.hasEnough(at: seconds) ?? true { return }
            guard requests.medium.waiting({ requests.waitForRequest() }) else { throw .cancelled }
            try check()
        }
    }

    private func read(
        _ decoder: RateConvertedDecoder, into region: UnsafeMutableBufferPointer<Int32>
    ) throws(EarlyEnd) -> DecodedRun {
        do throws(MediaError) { return try decoder.read(into: region) } catch { throw .failed(error) }
    }

    private func put(_ marker: PCMRing.Marker, into ring: PCMRing) throws(EarlyEnd) {
        while !ring.put(marker) { try sleep() }
    }

    // MARK: Requests

    private func requestedStart() -> Start? {
        guard case .position(let seconds, let number) = requests.take() else { return nil }
        return Start(position: seconds, seek: number)
    }

    private func check() throws(EarlyEnd) {
        if requests.cancellation.isCancelled { throw .cancelled }
        if let start = requestedStart() { throw .reposition(start) }
    }

    private func sleep() throws(EarlyEnd) {
        guard requests.wait(milliseconds: pacer.sleep()) else { throw .cancelled }
        try check()
    }

    /// Waits for a request after everything is decoded.
    private func waitForPosition() throws(EarlyEnd) -> Never {
        while true {
            guard requests.waitForRequest() else { throw .cancelled }
            try check()
        }
    }

    // MARK: Failures

    /// Reports missing or silent parts of a product that can be played.
    private func report(_ damage: DamageReport) {
        guard damage != reportedDamage else { return }
        reportedDamage = damage
        let name = product.productId
        if damage.incidents > 0 {
            let places = damage.incidents == 1 ? "one place" : "\(damage.incidents) places"
            Log.warning("\(name): damaged in \(places); \(damage.silencedFrames) frames of it are silence")
        }
        if damage.truncated { Log.warning("\(name): the file is cut off: its end is missing") }
    }

    private func fail(_ error: PlayerError, hasFrames: Bool, seek: Int) {
        guard !requests.cancellation.isCancelled else { return }
        var error = error
        error.mediaProduct = product
        report(.failed(error, hasFrames: hasFrames, seek: seek))
    }

    /// Waits until control allows the frames before a failure to be heard, and then for a seek.
    /// - Returns: the position at which to continue; nil when cancelled.
    private func finish(_ ring: PCMRing) -> Start? {
        var mayMark = false
        var isMarked = false
        while mayMark && !isMarked ? requests.wait(milliseconds: pacer.sleep()) : requests.waitForRequest() {
            switch requests.take() {
            case .position(let seconds, let number): return Start(position: seconds, seek: number)
            case .finish: mayMark = true
            case nil: break
            }
            // A full ring has no room for the mark: retry after some frames were heard.
            if mayMark, !isMarked { isMarked = ring.put(.end) }
        }
        return nil
    }

    private func reportFetched(_ opened: OpenedProduct, isAtEnd: Bool = false) {
        guard !hasReportedFetched, isAtEnd || opened.fetching?.isFetched ?? true else { return }
        hasReportedFetched = true
        report(.fetched)
    }

    // MARK: Context

    /// - Parameter seconds: the position of the frames that were decoded last.
    private func reportEncoding(of opened: OpenedProduct, _ format: PCMFormat, at seconds: Double) {
        let now = self.representation(of: opened, format)
        guard now != representation else { return }
        representation = now
        report(.representationChanged(now, at: seconds))
    }

    /// - Parameter format: the format of the frames; the decoder's properties contain only the format of the first
    ///   frames.
    private func representation(of opened: OpenedProduct, _ format: PCMFormat) -> AudioRepresentation {
        var properties = opened.decoder.properties
        properties.format = format
        var now = AudioRepresentation(
            codec: properties.codec.rawValue, bitRate: properties.bitRate,
            quality: opened.currentQuality.map { $0.heard(in: properties) })
        // After a restart the source may name another quality. Other changes are not known to the source.
        if opening == nil || opening?.quality != now.quality { opening = now }
        if let opening, now != opening { now.quality = AudioQuality(of: properties) }
        return now
    }

    private func context(
        of opened: OpenedProduct, _ decoder: RateConvertedDecoder, _ stream: PCMStream
    ) -> PlaybackContext {
        let properties = decoder.source.properties
        let metadata = opened.decoder.metadata
        var context = PlaybackContext(
            productId: opened.productId, streamType: opened.streamType, assetPresentation: opened.assetPresentation,
            playbackSessionId: session.id, referenceId: product.referenceId,
            startAssetPosition: Double(stream.startPosition) / 1e9)
        context.audioMode = opened.audioMode
        context.videoQuality = opened.videoQuality
        let format = decoder.sourceFormat
        context.audioBitDepth = format.recordedDepth
        context.audioSampleRate = format.recordedRate
        context.isDSDOverPCM = format.isDSD
        if format.sampleRate != stream.format.sampleRate { context.convertedSampleRate = stream.format.sampleRate }
        representation = self.representation(of: opened, format)
        context.representation = representation
        context.duration = properties.duration
        context.title = metadata.title
        context.artist = metadata.artist
        context.album = metadata.album
        return context
    }
}
