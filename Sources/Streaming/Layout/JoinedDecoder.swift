import Media
import PCM
import Playback

/// Decodes a sequence of parts of content without a gap (docs/playback.md, 15.10). When the next part has another
/// format, `read` returns `.format`, as for a change inside a file.
///
/// Thread: the decoder thread. Opening a part blocks.
package final class JoinedDecoder: AudioDecoder, ContentTransfers {
    private let prepare: (Int) throws(MediaError) -> any PreparedPart
    private let rate: Int
    /// The lengths of the parts, in frames of the first part's rate.
    private var lengths: PartLengths
    /// Whether each part was played to its end, so that its length is exact.
    private var isCounted: [Bool]
    private var part: Int
    private var current: any PreparedPart
    private var decoder: any AudioDecoder
    /// The part after the current one, once the current one has arrived.
    private var next: (any PreparedPart)?
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
    ///   - durations: of the parts according to the manifest, in seconds; at least one.
    ///   - prepare: begins the transfers of a part.
    /// - Throws: when the first part cannot be opened.
    package init(
        durations: [Double?], prepare: @escaping (Int) throws(MediaError) -> any PreparedPart
    ) throws(MediaError) {
        self.prepare = prepare
        part = 0
        current = try prepare(0)
        decoder = try current.open()
        format = decoder.properties.format
        decoderFormat = format
        let rate = format.sampleRate
        self.rate = rate
        position = FramePosition(rate: rate)
        lengths = PartLengths(durations: durations, rate: rate)
        isCounted = durations.map { _ in false }
        firstProperties = decoder.properties
        if let count = decoder.properties.frameCount { lengths[0] = min(count, lengths[0] ?? .max) }
    }

    private let firstProperties: AudioProperties

    package var properties: AudioProperties {
        var properties = decoder.properties
        properties.format = firstProperties.format
        // A digest describes only one part.
        if lengths.count > 1 { properties.sampleDigest = nil }
        properties.frameCount = lengths.total(with: properties.frameCount.map(scaled), of: part)
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
    package var isFetched: Bool { part == lengths.count - 1 && current.isFetched }

    /// Begins the next transfers when there is room for more.
    package func fetchAhead() {
        current.fetchAhead()
        prepareNext()
    }

    package func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        if let change = changedFormat() { return .format(change) }
        while true {
            let run = try decoder.read(into: buffer)
            switch run {
            case .frames(let count):
                position.read(count)
                hasRead = true
                prepareNext()
                return run
            case .format(let new):
                format = new
                decoderFormat = new
                position.changed(to: new.sampleRate)
                return run
            case .notYet: return run
            case .end:
                // The length of the part is now exact; later seeks use it.
                if hasRead {
                    lengths[part] = scaled(position.frame)
                    isCounted[part] = true
                }
                guard part + 1 < lengths.count else { return .end }
                try move(to: part + 1)
                if let change = changedFormat() { return .format(change) }
            }
        }
    }

    package func seek(toFrame frame: Int64) throws(MediaError) {
        let (target, rest) = lengths.place(of: frame)
        if target != part { try move(to: target) }
        let own = decoder.properties.format.sampleRate
        let begin = rest.frames(from: rate, to: own)
        position = FramePosition(begin, rate: own, currentRate: decoderFormat.sampleRate)
        hasRead = false
        try decoder.seek(toFrame: begin)
    }

    package func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

    // MARK: Parts

    /// Begins the transfers of the next part as soon as the current one has arrived.
    private func prepareNext() {
        guard next == nil, part + 1 < lengths.count, current.isFetched else { return }
        // Ignored: opening the part reports the error later, after the frames of the current part.
        do throws(MediaError) { next = try prepare(part + 1) } catch {}
    }

    private func move(to target: Int) throws(MediaError) {
        let prepared: any PreparedPart
        if target == part + 1, let next { prepared = next } else { prepared = try prepare(target) }
        let opened = try prepared.open()
        let left = decoder.damage
        earlierDamage.incidents += left.incidents
        earlierDamage.silencedFrames += left.silencedFrames
        earlierDamage.truncated = earlierDamage.truncated || left.truncated
        next = nil
        part = target
        current = prepared
        decoder = opened
        decoderFormat = opened.properties.format
        position = FramePosition(rate: decoderFormat.sampleRate)
        hasRead = false
        if !isCounted[target], let count = opened.properties.frameCount {
            // A movie box may describe the whole recording, of which the part is a section.
            lengths[target] = min(scaled(count), lengths[target] ?? .max)
        }
    }

    /// - Returns: the format of the current part, when the reader expects another one.
    private func changedFormat() -> PCMFormat? {
        guard decoderFormat != format else { return nil }
        format = decoderFormat
        return format
    }

    private func scaled(_ frames: Int64) -> Int64 {
        frames.frames(from: decoder.properties.format.sampleRate, to: rate)
    }
}
