import Fetching
import Media
import Platform
import Playback

/// The representation with which a part of the content begins (docs/playback.md, 15.11). When it cannot be opened, the
/// next one is tried, as long as one is left.
///
/// Thread: the decoder thread.
final class FirstRepresentation: PreparedPart {
    private let candidates: [AdaptiveSteering.Candidate]
    private let preferred: [Bool]
    private let throughput: Throughput
    private let progress: StreamProgress
    private let device: PlayingDevice
    private let part: ContentLayout.Part
    private var attempts: RepresentationAttempts
    private var index = 0
    private var content: PreparedContent?
    private var decoder: AdaptiveDecoder?

    /// Begins the transfers.
    /// - Parameters:
    ///   - candidates: the lowest bandwidth first; at least one.
    ///   - preferred: whether the device can play each of them.
    ///   - part: a part of the content; its clip is the range that is played.
    ///   - mayBeRenewed: whether a new session may help when a part of the content is refused.
    /// - Throws: when none can be used.
    init(
        _ candidates: [AdaptiveSteering.Candidate], preferring preferred: [Bool], of part: ContentLayout.Part,
        _ throughput: Throughput, _ progress: StreamProgress, for device: PlayingDevice, mayBeRenewed: Bool
    ) throws(MediaError) {
        (self.candidates, self.preferred, self.throughput, self.progress) = (
            candidates, preferred, throughput, progress
        )
        (self.device, self.part) = (device, part)
        attempts = RepresentationAttempts(count: candidates.count, mayBeRenewed: mayBeRenewed)
        try begin()
    }

    var isFetched: Bool { decoder?.isFetched ?? content?.isFetched ?? false }

    func fetchAhead() { if let decoder { decoder.fetchAhead() } else { content?.fetchAhead() } }

    func open() throws(MediaError) -> any AudioDecoder {
        let opened = try openFirst()
        return part.clip.map { ClippedDecoder(opened, $0, mediaStart: part.mediaStart) } ?? opened
    }

    /// Opens the best representation that can be opened.
    private func openFirst() throws(MediaError) -> any AudioDecoder {
        var failure: MediaError?
        while true {
            do throws(MediaError) {
                if content == nil { try begin() }
                if let content { return try open(content) }
            } catch {
                // The error of the representation that was preferred is reported.
                let first = failure ?? error
                failure = first
                guard exclude(index, error) else { throw first }
                content = nil
            }
        }
    }

    private func open(_ content: PreparedContent) throws(MediaError) -> any AudioDecoder {
        guard candidates.count > 1, content.segments != nil else { return try content.open() }
        let opened = try AdaptiveDecoder(
            candidates, beginningWith: index, content, attempts.isExcluded, throughput, progress, for: device)
        decoder = opened
        return opened
    }

    /// Begins the transfers of the best remaining representation.
    private func begin() throws(MediaError) {
        var failure: MediaError?
        while true {
            let left = attempts.isExcluded.map { !$0 }
            var usable = left.indices.map { left[$0] && preferred[$0] }
            if !usable.contains(true) { usable = left }
            let ready = usable.indices.map { usable[$0] && candidates[$0].isReady() }
            if ready.contains(true) { usable = ready }
            let inReach = usable.indices.map { usable[$0] && candidates[$0].isInReach() }
            if inReach.contains(true) { usable = inReach }
            index = RepresentationChoice(bandwidths: candidates.map { $0.bandwidth }).first(
                line: throughput.bitsPerSecond, usable: usable)
            do throws(MediaError) {
                let content = try candidates[index].prepare(attempts.patience)
                content.prepare()
                self.content = content
                return
            } catch {
                let first = failure ?? error
                failure = first
                guard exclude(index, error) else { throw first }
            }
        }
    }

    /// - Returns: whether another representation is to be tried.
    private func exclude(_ index: Int, _ error: MediaError) -> Bool {
        guard attempts.exclude(index, error) else { return false }
        Log.notice("a representation of the content cannot be opened, another one is tried")
        return true
    }
}
