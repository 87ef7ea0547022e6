import Media
import PCM
import Playback

/// Decodes a sequence of parts of content without a gap (docs/playback.md, 15.10). When the next part has another
/// format, `read` returns `.format`, as for a change inside a file.
///
/// Thread: the decoder thread. Opening a part blocks.
package final class JoinedDecoder: AudioDecoder, ContentTransfers {
    /// The lengths of the parts, in frames of the first part's rate.
    private var lengths: PartLengths
    private var parts: PreparedParts
    private var decoder: any AudioDecoder
    /// The format of the first part.
    private let first: PCMFormat
    /// The position in the current part, in frames of its own rate.
    private var position: FramePosition
    /// Whether frames were read since the last seek. A seek to after the end reveals nothing about the length.
    private var hasRead = false
    /// The format of the next frames, as far as the reader knows.
    private var format: PCMFormat
    /// The format of the frames that `decoder` returns.
    private var decoderFormat: PCMFormat
    /// The damage in the parts before the current one.
    private var earlierDamage = DamageReport()

    /// - Parameters:
    ///   - durations: the durations of the parts according to the manifest, in seconds; at least one.
    ///   - prepare: begins the transfers of a part.
    /// - Throws: when the first part cannot be opened.
    package init(
        durations: [Double?], prepare: @escaping (Int) throws(MediaError) -> any PreparedPart
    ) throws(MediaError) {
        parts = try PreparedParts(durations.count, prepare: prepare)
        decoder = try parts.current.open()
        first = decoder.properties.format
        (format, decoderFormat) = (first, first)
        position = FramePosition(rate: first.sampleRate)
        lengths = PartLengths(durations: durations, rate: first.sampleRate)
        if let count = decoder.properties.frameCount { lengths.limit(0, to: count) }
    }

    package var properties: AudioProperties {
        var properties = decoder.properties
        properties.format = first
        // A digest describes only one part.
        if lengths.count > 1 { properties.sampleDigest = nil }
        properties.frameCount = lengths.total(with: properties.frameCount.map(scaled), of: parts.index)
        return properties
    }

    package var metadata: TrackMetadata { decoder.metadata }

    package var damage: DamageReport {
        var damage = decoder.damage
        damage.incidents += earlierDamage.incidents
        damage.silencedFrames += earlierDamage.silencedFrames
        damage.truncated = damage.truncated || earlierDamage.truncated
        return damage
    }

    /// Whether the whole content has arrived.
    package var isFetched: Bool { parts.isLast && parts.current.isFetched }

    /// Begins the next transfers when there is room for more.
    package func fetchAhead() {
        parts.current.fetchAhead()
        parts.prepareNext()
    }

    package func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        if let change = changedFormat() { return .format(change) }
        while true {
            let run = try decoder.read(into: buffer)
            switch run {
            case .frames(let count):
                position.read(count)
                hasRead = true
                parts.prepareNext()
                return run
            case .format(let new):
                format = new
                decoderFormat = new
                position.changed(to: new.sampleRate)
                return run
            case .notYet: return run
            case .end:
                // The length of the part is now exact; later seeks use it.
                if hasRead { lengths.counted(scaled(position.frame), of: parts.index) }
                guard !parts.isLast else { return .end }
                try move(to: parts.index + 1)
                if let change = changedFormat() { return .format(change) }
            }
        }
    }

    package func seek(toFrame frame: Int64) throws(MediaError) {
        let (target, rest) = lengths.position(of: frame)
        if target != parts.index { try move(to: target) }
        let own = decoder.properties.format.sampleRate
        let begin = rest.frames(from: lengths.rate, to: own)
        position = FramePosition(begin, rate: own, currentRate: decoderFormat.sampleRate)
        hasRead = false
        try decoder.seek(toFrame: begin)
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

    // MARK: Parts

    private func move(to target: Int) throws(MediaError) {
        let opened = try parts.open(target)
        let left = decoder.damage
        earlierDamage.incidents += left.incidents
        earlierDamage.silencedFrames += left.silencedFrames
        earlierDamage.truncated = earlierDamage.truncated || left.truncated
        decoder = opened
        decoderFormat = opened.properties.format
        position = FramePosition(rate: decoderFormat.sampleRate)
        hasRead = false
        if let count = opened.properties.frameCount { lengths.limit(target, to: scaled(count)) }
    }

    /// - Returns: the format of the current part, when the reader expects another one.
    private func changedFormat() -> PCMFormat? {
        guard decoderFormat != format else { return nil }
        format = decoderFormat
        return format
    }

    private func scaled(_ frames: Int64) -> Int64 {
        frames.frames(from: decoder.properties.format.sampleRate, to: lengths.rate)
    }
}
