import Fetching
import Media
import PCM
import Platform
import Playback

/// Plays live content, part after part, and survives any single bad answer: a segment that cannot be fetched or decoded
/// is left out (docs/playback.md, 15.12).
///
/// Thread: the decoder thread. Only `open` blocks.
final class LiveDecoder: AudioDecoder, ContentTransfers {
    /// A part whose transfers have begun.
    struct Content {
        var segments: LiveSegments
        var licenses: (any LicenseProvider)?
    }

    private enum State {
        /// After a part that has ended; nil before the first one.
        case between(LivePart?)
        /// - Parameter frame: the frame of the part at which decoding begins.
        case opening(LivePart, Content, AudioOpening, frame: Int64)
        case playing(LivePart, Content, any AudioDecoder)
    }

    private let playlist: LivePlaylist
    private let requests: ServiceRequests
    private let prepare: (LivePart) throws(MediaError) -> Content
    private var state = State.between(nil)
    /// The part after the current one, once the current one has arrived.
    private var next: (part: LivePart, content: Content)?
    /// The parts that have begun, in order, with their first frames, in frames of the first part's rate.
    private var begun: [(part: LivePart, frame: Int64)] = []
    /// The position in frames of the first part's rate; nil before that part is open.
    private var reading: ReadingPosition?
    /// The properties and metadata of the current or the last decoder.
    private var latest: (properties: AudioProperties, metadata: TrackMetadata)?
    /// Whether nothing was read since the decoder was opened. Its format may differ from the last one.
    private var isNew = false
    /// The damage in the decoders before the current one.
    private var earlierDamage = DamageReport()

    /// - Parameter prepare: makes the segments of a part.
    init(
        _ playlist: LivePlaylist, _ requests: ServiceRequests,
        prepare: @escaping (LivePart) throws(MediaError) -> Content
    ) {
        (self.playlist, self.requests, self.prepare) = (playlist, requests, prepare)
    }

    /// Blocks until the format is known. Parts that cannot be opened are left out, until it is clear that all of them
    /// fail.
    func open() throws(MediaError) {
        while true {
            do throws(MediaError) {
                if try advance() { return }
            } catch {
                if case .unsupported = error { throw error }
                try lose(after: error)
                continue
            }
            if let failure = playlist.takeFailure() { throw failure }
            if case .between = state, playlist.isComplete { throw .empty }
            try wait()
        }
    }

    private func wait() throws(MediaError) {
        do throws(SystemError) {
            let arrival = try WakeUp()
            whenReadable { arrival.signal() }
            let outcome = try requests.medium.waiting { () throws(SystemError) in
                try requests.cancellation.wait(for: arrival.descriptor, .readable, milliseconds: -1)
            }
            if outcome != .cancelled { return }
        } catch {
            throw .source(.medium(error))
        }
        throw .source(.cancelled)
    }

    // MARK: AudioDecoder

    var properties: AudioProperties {
        guard let reading, var properties = latest?.properties else {
            preconditionFailure("LiveDecoder: used before it is open")
        }
        let rate = properties.format.sampleRate
        properties.format = reading.first
        properties.sampleDigest = nil
        // The last part has a length once the content is complete.
        let isLast = part.map { playlist.isComplete && playlist.part(after: $0) == nil } ?? false
        let length = isLast ? properties.frameCount : nil
        properties.frameCount = length.map {
            (begun.last?.frame ?? 0) + reading.scaled($0, from: rate)
        }
        return properties
    }

    var metadata: TrackMetadata { latest?.metadata ?? TrackMetadata() }

    var damage: DamageReport {
        guard case .playing(_, _, let decoder) = state else { return earlierDamage }
        return earlierDamage.with(decoder.damage)
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun {
        while true {
            let run: DecodedRun?
            do throws(MediaError) { run = try next(into: buffer) } catch {
                try lose(after: error)
                continue
            }
            switch run {
            case .frames?, .format?: return run ?? .notYet
            case .notYet?, .end?, nil: if let failure = playlist.takeFailure() { throw failure }
            }
            if let run { return run }
        }
    }

    /// - Returns: nil at the end of a part.
    private func next(into buffer: UnsafeMutableBufferPointer<Int32>) throws(MediaError) -> DecodedRun? {
        guard try advance(), case .playing(let part, _, let decoder) = state else { return isOver ? .end : .notYet }
        if let change = changedFormat() { return .format(change) }
        let run = try decoder.read(into: buffer)
        switch run {
        case .frames(let count):
            reading?.read(count)
            playlist.heard()
            prepareNext()
        case .format(let new):
            reading?.changed(to: new)
        case .notYet: break
        case .end:
            // The last part stays open, because a seek may play it again.
            if playlist.isComplete, playlist.part(after: part) == nil { return .end }
            leave(part)
            return nil
        }
        return run
    }

    /// Whether the last part has ended.
    private var isOver: Bool {
        guard case .between(let part?) = state else { return false }
        return playlist.isComplete && playlist.part(after: part) == nil
    }

    func seek(toFrame frame: Int64) throws(MediaError) {
        guard var reading, let target = begun.last(where: { $0.frame <= max(0, frame) }) else { return }
        reading.seek(to: frame)
        self.reading = reading
        let own = max(0, frame) - target.frame
        if case .playing(let part, _, let decoder) = state, part.index == target.part.index {
            let frame = reading.scaled(own, to: decoder.properties.format.sampleRate)
            do throws(MediaError) { try decoder.seek(toFrame: frame) } catch { try lose(after: error) }
            return
        }
        if let part { leave(part) }
        next = nil
        try begin(target.part, at: own)
    }

    func whenReadable(_ wake: @escaping @Sendable () -> Void) {
        switch state {
        case .between: playlist.whenLoaded(wake)
        case .opening(_, _, let opening, _): opening.whenReadable(wake)
        case .playing(_, _, let decoder): decoder.whenReadable(wake)
        }
    }

    // MARK: Parts

    /// Whether the whole content has arrived: live content has no end.
    var isFetched: Bool { false }

    /// Begins the next transfers when there is room for more.
    func fetchAhead() {
        content?.segments.fetchAhead()
        prepareNext()
    }

    private var part: LivePart? {
        switch state {
        case .between: nil
        case .opening(let part, _, _, _), .playing(let part, _, _): part
        }
    }

    private var content: Content? {
        switch state {
        case .between: nil
        case .opening(_, let content, _, _), .playing(_, let content, _): content
        }
    }

    /// Continues with the next part and opens it, as far as that is possible now.
    /// - Returns: whether a decoder is open.
    private func advance() throws(MediaError) -> Bool {
        if case .between(let last) = state {
            do throws(ByteSourceError) { try playlist.poll() } catch { throw .source(error) }
            guard let following = last.map({ playlist.part(after: $0) }) ?? playlist.part(0) else { return false }
            try begin(following, at: 0)
        }
        guard case .opening(let part, let content, let opening, let frame) = state else { return true }
        guard let decoder = try opening.attempt() else { return false }
        opened(decoder, part, content)
        if frame > 0, let reading {
            try decoder.seek(toFrame: reading.scaled(frame, to: decoder.properties.format.sampleRate))
        }
        return true
    }

    private func begin(_ part: LivePart, at frame: Int64) throws(MediaError) {
        let content: Content
        if let next, next.part.index == part.index { content = next.content } else { content = try prepared(part) }
        next = nil
        if !begun.contains(where: { $0.part.index == part.index }) {
            begun.append((part, reading?.frame ?? 0))
            begun.sort { $0.part.index < $1.part.index }
        }
        state = .opening(part, content, AudioOpening(content.segments, licenses: content.licenses), frame: frame)
    }

    private func prepared(_ part: LivePart) throws(MediaError) -> Content {
        let content = try prepare(part)
        content.segments.prepare()
        return content
    }

    private func opened(_ decoder: any AudioDecoder, _ part: LivePart, _ content: Content) {
        latest = (decoder.properties, decoder.metadata)
        state = .playing(part, content, decoder)
        isNew = true
        if reading == nil { reading = ReadingPosition(decoder.properties.format) }
    }

    /// Begins the transfers of the next part as soon as the current one has arrived.
    private func prepareNext() {
        guard case .playing(let part, let content, _) = state, content.segments.isFetched,
            let following = playlist.part(after: part), following.index != next?.part.index
        else { return }
        // Ignored: beginning the part reports the error later.
        next = (try? prepared(following)).map { (following, $0) }
    }

    /// Ends the part.
    private func leave(_ part: LivePart) {
        if case .playing(_, _, let decoder) = state { earlierDamage = earlierDamage.with(decoder.damage) }
        state = .between(part)
    }

    /// Counts the segment that cannot be decoded as a gap. A segment that was not fetched is a gap already.
    /// - Throws: errors that have nothing to do with a segment.
    private func lose(after error: MediaError) throws(MediaError) {
        if let failure = playlist.takeFailure() { throw failure }
        guard error.isOfAnswer, let part else { throw error }
        let index = content?.segments.lastRead ?? part.index
        leave(part)
        playlist.lose(index, after: error)
        if let failure = playlist.takeFailure() { throw failure }
    }

    /// - Returns: the format of the current decoder, when the reader expects another one.
    private func changedFormat() -> PCMFormat? {
        guard case .playing(_, _, let decoder) = state else { return nil }
        defer { isNew = false }
        return isNew ? reading?.change(to: decoder.properties.format) : nil
    }
}

extension DamageReport {
    fileprivate func with(_ other: DamageReport) -> DamageReport {
        var sum = self
        sum.incidents += other.incidents
        sum.silencedFrames += other.silencedFrames
        sum.truncated = sum.truncated || other.truncated
        return sum
    }
}
