import Fetching
import Media
import PCM
import Platform
import Playback

/// Decodes a product of the service, and restarts it from a new playbackinfo when the service refuses a part of its
/// content with 4XX: a signed address has expired, or the content has moved (docs/playback.md, 15.5).
///
/// The new content continues at the next frame, so the layers above do not notice. Live content continues at the
/// service's present position, and the time in between is lost. Without a new session, live content continues in the
/// old one.
///
/// Thread: the decoder thread. A restart blocks.
package final class RestartingDecoder: FetchingDecoder {
    /// Opens the product with a new session, after this error.
    package typealias Opening = (MediaError) throws(PlayerError) -> Content

    /// The content of one session.
    package struct Content {
        var decoder: any AudioDecoder
        /// The transfers; nil when all of the content is on this device.
        var transfers: (any ContentTransfers)?
        var audioQuality: AudioQuality?

        package init(
            _ decoder: any AudioDecoder, transfers: (any ContentTransfers)? = nil, audioQuality: AudioQuality?
        ) {
            (self.decoder, self.transfers, self.audioQuality) = (decoder, transfers, audioQuality)
        }
    }

    private let reopen: Opening
    private let isLive: Bool
    private let buffering: BufferCondition?
    private var content: Content
    /// The position in frames of the first content's rate, whatever rate the content has after a restart.
    private var reading: ReadingPosition
    /// The position of the decoder's first frame; 0 except after a restart of live content.
    private var origin: Int64 = 0
    /// The format of the first frames after a restart.
    private var restartedFormat: PCMFormat?
    /// Whether frames were read since the last restart. Otherwise another restart would end the same way.
    private var hasProgressed = true
    /// Why the last restart has failed, in the service's terms.
    package private(set) var failure: PlayerError?

    /// - Parameters:
    ///   - isLive: whether the content begins with another frame each time it is opened.
    ///   - buffering: decides whether enough has arrived; nil for content on this device.
    package init(
        _ content: Content, isLive: Bool = false, buffering: BufferCondition? = nil, reopen: @escaping Opening
    ) {
        self.content = content
        self.isLive = isLive
        self.buffering = buffering
        self.reopen = reopen
        reading = ReadingPosition(content.decoder.properties.format)
    }

    package var properties: AudioProperties {
        var properties = decoder.properties
        properties.frameCount = properties.frameCount.map { reading.scaled($0, from: properties.format.sampleRate) }
        properties.format = reading.first
        return properties
    }

    private var decoder: any AudioDecoder { content.decoder }

    package var metadata: TrackMetadata { decoder.metadata }
    package var damage: DamageReport { decoder.damage }

    package func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            if let new = restartedFormat {
                restartedFormat = nil
                if let change = reading.change(to: new) { return .format(change) }
            }
            let run: DecodedRun
            do throws(MediaError) { run = try decoder.read(into: buffer) } catch {
                try restart(after: error)
                continue
            }
            switch run {
            case .frames(let count):
                reading.read(count)
                hasProgressed = true
            case .format(let new): reading.changed(to: new)
            case .end: if try continues() { continue }
            case .notYet: break
            }
            return run
        }
    }

    package func seek(toFrame frame: Int64) throws(MediaError) {
        reading.seek(to: frame)
        do throws(MediaError) { try seek(decoder) } catch {
            try restart(after: error)
        }
    }

    private func seek(_ decoder: any AudioDecoder) throws(MediaError) {
        let frame = max(0, reading.frame - origin)
        try decoder.seek(toFrame: reading.scaled(frame, to: decoder.properties.format.sampleRate))
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

    package var isFetched: Bool { content.transfers?.isFetched ?? true }

    package var audioQuality: AudioQuality? { content.audioQuality }

    package func fetchAhead() { content.transfers?.fetchAhead() }

    package func hasEnough(at position: Double) -> Bool {
        buffering?.holds(at: position, of: properties.duration) ?? true
    }

    /// Opens content again that has ended before the end in its header, where its transfer has not announced that end.
    /// - Returns: false at the end.
    private func continues() throws(MediaError) -> Bool {
        guard hasProgressed, decoder.damage.truncated, content.transfers?.mayHaveRest ?? false else { return false }
        (hasProgressed, failure) = (false, nil)
        Log.info("the connection has ended before the content: the rest is requested")
        let cut = MediaError.source(.network(reason: "the connection ended before the content"))
        let renewed: Content
        do throws(PlayerError) { renewed = try reopen(cut) } catch let refusal {
            failure = refusal
            throw cut
        }
        do throws(MediaError) { try take(renewed) } catch {
            // The reopened content has nothing at this frame either.
            guard error.isOfAnswer else { throw error }
            return false
        }
        return true
    }

    /// - Throws: `error`, when a restart does not help.
    private func restart(after error: MediaError) throws(MediaError) {
        failure = nil
        guard error.isWorthRestarting, hasProgressed || isLive else { throw error }
        hasProgressed = false
        Log.info("a part of the content is refused or has changed: the product is requested again")
        let renewed: Content
        do throws(PlayerError) { renewed = try reopen(error) } catch let refusal {
            if isLive, refusal.isOfMoment { return }
            failure = refusal
            throw error
        }
        try take(renewed)
    }

    /// Continues in the content of another session.
    private func take(_ renewed: Content) throws(MediaError) {
        if isLive { origin = reading.frame } else { try seek(renewed.decoder) }
        content = renewed
        // Another representation may suit the throughput better by now.
        restartedFormat = decoder.properties.format
    }
}

extension PlayerError {
    /// Whether the service has not refused the product: the service or the content is temporarily unavailable.
    fileprivate var isOfMoment: Bool {
        if case .media(let error) = cause, !error.isOfAnswer { return false }
        return kind == .retryable || kind == .network || kind == .unexpected
    }
}
