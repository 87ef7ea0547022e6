import Media
import PCM
import Platform

/// One part of the content in several encodings of the same sound: the one that is fetched follows the line
/// (docs/playback.md, 15.11). It changes at the boundary of a segment, and no frame is lost or heard twice.
/// Where the next encoding has another format, the pipeline is told, as it is of a change inside a file.
///
/// A seek keeps the encoding. Its frames are those of the first encoding's rate.
///
/// Thread: the decoder thread. Opening an encoding blocks.
final class AdaptiveDecoder: AudioDecoder {
    private let steering: AdaptiveSteering
    private let progress: StreamProgress
    private var content: PreparedContent
    private var decoder: any AudioDecoder
    /// The first frame of the next `read`, in frames of the present encoding.
    private var position: Int64 = 0
    private let first: AudioProperties
    /// Of the encodings before.
    private var earlierDamage = DamageReport()

    /// - Parameters:
    ///   - encodings: the lowest bandwidth first, of segments all.
    ///   - content: of the one at `place`, whose transfers have begun.
    ///   - isExcluded: which ones cannot be used.
    /// - Throws: when it cannot be opened.
    init(
        _ encodings: [AdaptiveSteering.Encoding], beginningWith place: Int, _ content: PreparedContent,
        _ isExcluded: [Bool], _ throughput: Throughput, _ progress: StreamProgress
    ) throws(MediaError) {
        let timeline = content.segments?.timeline ?? SegmentTimeline(runs: [], isComplete: true)
        let steering = AdaptiveSteering(encodings, current: place, timeline, throughput, progress)
        for other in isExcluded.indices where isExcluded[other] { steering.exclude(other) }
        content.segments?.mayBegin = { steering.stays(for: $0) }
        self.steering = steering
        self.progress = progress
        self.content = content
        decoder = try content.open()
        first = decoder.properties
        steering.needsLead = first.codec != .flac
    }

    /// The format and the length of the first encoding, in which a seek counts, and the rest of the present one.
    var properties: AudioProperties {
        var properties = first
        properties.codec = decoder.properties.codec
        let bandwidth = steering.encodings[steering.current].bandwidth
        properties.bitRate = bandwidth > 0 ? bandwidth : nil
        return properties
    }

    var metadata: TrackMetadata { decoder.metadata }

    var damage: DamageReport {
        var damage = decoder.damage
        damage.incidents += earlierDamage.incidents
        damage.silencedFrames += earlierDamage.silencedFrames
        return damage
    }

    /// Whether all of it has arrived.
    var isFetched: Bool { steering.next == nil && content.isFetched }

    /// Begins the next transfers when there is room for more.
    func fetchAhead() {
        content.fetchAhead()
        steering.next?.content.fetchAhead()
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            let run = try decoder.read(into: buffer)
            switch run {
            case .frames(let count):
                position += Int64(count)
                steering.next?.content.fetchAhead()
                return run
            case .format, .notYet: return run
            case .end:
                guard let next = steering.takeNext() else { return .end }
                if let change = try take(next) { return .format(change) }
            }
        }
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        position = max(0, frame).frames(from: first.format.sampleRate, to: decoder.properties.format.sampleRate)
        steering.forgetNext()
        content.segments?.goOn()
        try decoder.seek(toFrame: position)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

    /// The present encoding has come to the boundary where another one follows.
    /// - Returns: the format from here on, when it is another one.
    private func take(_ next: AdaptiveSteering.Following) throws(MediaError) -> PCMFormat? {
        let old = decoder.properties.format
        do throws(MediaError) {
            let opened = try next.content.open()
            let new = opened.properties.format
            guard progress.mayPlay(rate: new.sampleRate) else {
                Log.notice("the device has no \(new.sampleRate) Hz: an encoding of the content is not used")
                try stay(insteadOf: next)
                return nil
            }
            let begin = position.frames(from: old.sampleRate, to: new.sampleRate)
            try opened.seek(toFrame: begin)
            earlierDamage.incidents += decoder.damage.incidents
            earlierDamage.silencedFrames += decoder.damage.silencedFrames
            (content, decoder, position) = (next.content, opened, begin)
            if let segments = content.segments {
                segments.forgetHead()
                let steering = steering
                segments.mayBegin = { steering.stays(for: $0) }
                steering.became(next.place, segments.timeline)
            }
            steering.needsLead = opened.properties.codec != .flac
            return new == old ? nil : new
        } catch {
            if error == .source(.cancelled) { throw error }
            try stay(insteadOf: next)
            return nil
        }
    }

    /// The present encoding goes on, and the other one is not tried again.
    private func stay(insteadOf other: AdaptiveSteering.Following) throws(MediaError) {
        steering.exclude(other.place)
        content.segments?.goOn()
        try decoder.seek(toFrame: position)
    }
}
