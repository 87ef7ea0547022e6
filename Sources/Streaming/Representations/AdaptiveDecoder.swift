import Fetching
import Media
import PCM
import Platform
import Playback

/// Decodes one part of the content that has several representations of the same sound. The representation follows the
/// throughput of the link (docs/playback.md, 15.11).
///
/// It changes at the boundary of a segment, or inside a segment whose transfer is given up. No frame is lost or heard
/// twice. When the next representation has another format, `read` returns `.format`, as for a change inside a file.
///
/// A seek keeps the representation. Its frames are counted at the sample rate of the first representation.
///
/// Thread: the decoder thread. Opening a representation blocks.
final class AdaptiveDecoder: AudioDecoder {
    private let steering: AdaptiveSteering
    private let device: PlayingDevice
    private var decoder: any AudioDecoder
    /// The first frame of the next `read`, in frames of the current representation.
    private var position: Int64 = 0
    private let first: AudioProperties
    /// Whether `decoder` cannot continue, because its segments cannot be reached.
    private var isBroken = false
    /// The position of the last failure of a representation, in seconds of the content; nil before the first one.
    private var lastFailure: Double?
    /// The damage in the representations before the current one.
    private var earlierDamage = DamageReport()

    ///   - candidates: the representations, the lowest bandwidth first. All of them consist of segments.
    ///   - index: the index in `candidates` of the representation to decode first.
    ///   - content: the content of the representation at `index`, whose transfers have begun.
    ///   - isExcluded: whether each representation is unusable.
    /// - Throws: when the representation cannot be opened.
    init(
        _ candidates: [AdaptiveSteering.Candidate], beginningWith index: Int, _ content: PreparedContent,
        _ isExcluded: [Bool], _ throughput: Throughput, _ progress: StreamProgress,
        for device: PlayingDevice
    ) throws(MediaError) {
        let steering = AdaptiveSteering(candidates, beginningWith: index, content, throughput, progress)
        for other in isExcluded.indices where isExcluded[other] { steering.exclude(other) }
        do throws(MediaError) { decoder = try Self.open(steering) } catch {
            steering.end()
            throw error
        }
        self.steering = steering
        self.device = device
        first = decoder.properties
    }

    /// Opens the first representation, or the one that has replaced it in the meantime.
    private static func open(_ steering: AdaptiveSteering) throws(MediaError) -> any AudioDecoder {
        while true {
            let content = steering.current.content
            do throws(MediaError) {
                let opened = try content.open()
                content.segments?.forgetHead()
                return opened
            } catch {
                guard error == .source(.cancelled), steering.takeNext() != nil else { throw error }
            }
        }
    }

    deinit { steering.end() }

    /// The format and the length are those of the first representation, by which a seek counts. The rest describes the
    /// current one.
    var properties: AudioProperties {
        var properties = first
        properties.codec = decoder.properties.codec
        let bandwidth = steering.candidates[steering.current.place].bandwidth
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

    /// Whether the whole part has arrived.
    var isFetched: Bool { steering.isFetched }

    /// Begins the next transfers when there is room for more.
    func fetchAhead() { steering.fetchAhead() }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            let run: DecodedRun
            do throws(MediaError) { run = try decoder.read(into: buffer) } catch {
                let change: PCMFormat?
                if error == .source(.cancelled), steering.next != nil {
                    // The end of a segment whose transfer was given up.
                    change = try takeNext()
                } else {
                    change = try replace(after: error)
                }
                if let change { return .format(change) }
                continue
            }
            switch run {
            case .frames(let count):
                position += Int64(count)
                steering.fetchAhead()
                return run
            case .format, .notYet: return run
            case .end:
                guard steering.next != nil else { return .end }
                if let change = try takeNext() { return .format(change) }
            }
        }
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        position = max(0, frame).frames(from: first.format.sampleRate, to: decoder.properties.format.sampleRate)
        steering.forgetNext()
        try move()
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) { decoder.whenReadable(wake) }

    /// Moves the decoder to `position`.
    private func move() throws(MediaError) {
        guard let segments = steering.current.content.segments else { return try decoder.seek(toFrame: position) }
        try segments.moving { () throws(MediaError) in try decoder.seek(toFrame: position) }
    }

    /// Switches to the next representation at the end of the current one.
    /// - Returns: the new format, when it differs.
    private func takeNext() throws(MediaError) -> PCMFormat? {
        guard let next = steering.next else { return nil }
        let old = decoder.properties.format
        do throws(MediaError) {
            let opened = try next.content.open()
            let new = opened.properties.format
            guard device.mayPlay(rate: new.sampleRate) else {
                Log.notice("the device has no \(new.sampleRate) Hz: a representation of the content is not used")
                if isBroken { throw .unsupported(what: "a rate that the device does not have") }
                try stay()
                return nil
            }
            let begin = position.frames(from: old.sampleRate, to: new.sampleRate)
            if let segments = next.content.segments {
                try segments.moving { () throws(MediaError) in try opened.seek(toFrame: begin) }
                segments.forgetHead()
            } else {
                try opened.seek(toFrame: begin)
            }
            earlierDamage.incidents += decoder.damage.incidents
            earlierDamage.silencedFrames += decoder.damage.silencedFrames
            (decoder, position, isBroken) = (opened, begin, false)
            _ = steering.takeNext()
            return new == old ? nil : new
        } catch {
            guard error == .source(.cancelled) else {
                guard isBroken else {
                    try stay(after: error)
                    return nil
                }
                steering.excludeNext(after: error)
                throw error
            }
            // The first segment of the next representation may have been given up meanwhile.
            guard steering.next !== next else { throw error }
            if steering.next == nil { try move() }
            return try takeNext()
        }
    }

    /// Switches to another representation, because the segments of the current one cannot be reached.
    /// - Throws: `error`, when it has another reason or no other representation can be played.
    private func replace(after error: MediaError) throws(MediaError) -> PCMFormat? {
        guard error.isOfAddress else { throw error }
        let seconds = Double(position) / Double(decoder.properties.format.sampleRate)
        steering.currentFailed(error, hasPlayed: seconds != lastFailure)
        lastFailure = seconds
        while try steering.replaceCurrent(at: seconds) {
            isBroken = true
            do throws(MediaError) { return try takeNext() } catch { if error == .source(.cancelled) { throw error } }
        }
        throw error
    }

    /// Continues the current representation and excludes the next one.
    /// - Parameter error: the reason; nil when the device cannot play the next representation.
    private func stay(after error: MediaError? = nil) throws(MediaError) {
        steering.excludeNext(after: error)
        try move()
    }
}
