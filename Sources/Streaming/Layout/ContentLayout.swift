import Manifests
import Media

/// Content as it is played: a sequence of parts. One decoder plays a part from its beginning to its end. Times and
/// formats of different parts may be unrelated (docs/playback.md, 15.10; docs/decisions/parts-of-content.md).
package struct ContentLayout: Equatable {
    package struct Part: Equatable {
        /// Representations of the same sound, the lowest bandwidth first; at least one. Their `segments` are a file, a
        /// list or a template.
        package var representations: [Representation]
        /// The range to play, in seconds of the media's own time; nil for all.
        package var clip: Range<Double>?
        /// The time of the first frame, in seconds of the media's own time, according to the manifest; nil: according
        /// to the media.
        package var mediaStart: Double?
        /// The length in seconds according to the manifest; nil when it has none.
        package var duration: Double?
    }

    /// The parts in order; at least one.
    package private(set) var parts: [Part] = []
    /// Other representations of the same sound whose segment addresses are not known yet.
    private(set) var later: [Representation] = []
    /// The segment list that divides the content into parts; nil without `later`.
    private var divided: SegmentList?

    /// - Parameters:
    ///   - manifest: its playlists are loaded, and its sets are in the order of preference.
    ///   - files: files whose indexes are not loaded.
    ///   - quality: the delivered quality, by the service's name. A representation with this id is the only one.
    init(_ manifest: Manifest, later files: [Representation] = [], quality: String?) throws(MediaError) {
        later = files
        var rounding = 0.0
        for period in manifest.periods where period.duration != 0 || manifest.periods.count == 1 {
            guard let set = Self.set(of: period, like: parts.last, quality) else {
                throw .unsupported(what: "content with a period without sound")
            }
            let all = set.playable(quality: quality)
            later += all.filter { $0.isPlaylist }
            if !later.isEmpty, case .list(let list)? = all.last(where: { !$0.isPlaylist })?.segments { divided = list }
            for part in Self.parts(of: all.filter { !$0.isPlaylist }, in: period) {
                rounding = period.endRounding ?? 0
                if let last = parts.last, let joined = last.continued(by: part) {
                    parts[parts.count - 1] = joined
                } else {
                    parts.append(part)
                }
            }
        }
        guard !parts.isEmpty else { throw .damaged(what: "a manifest without audio") }
        for place in parts.indices {
            parts[place].fitClip(rounding: place + 1 == parts.count ? rounding : nil)
        }
        // A single file is played to its end, whatever the manifest says about its length.
        if parts.count == 1, parts[0].isFile, parts[0].clip?.lowerBound == 0 { parts[0].clip = nil }
    }

    /// Returns the first set; in later periods, the set with a representation that was played before.
    private static func set(of period: Period, like last: Part?, _ quality: String?) -> AdaptationSet? {
        guard let first = period.adaptationSets.first else { return nil }
        let known = last?.representations.map { $0.id } ?? []
        return period.adaptationSets.first { set in
            set.isDecodable == first.isDecodable
                && set.playable(quality: quality).contains { representation in
                    known.contains { $0.utf8.elementsEqual(representation.id.utf8) }
                }
        } ?? first
    }

    /// Returns one part of a representation of `later`.
    /// - Parameter representation: with its segments.
    /// - Parameter division: the result of `division(of:)` for it.
    func part(_ place: Int, of representation: Representation, _ division: [Range<Int>]) -> Representation? {
        guard case .list(let list) = representation.segments, division.indices.contains(place) else { return nil }
        let isLast = place == division.count - 1
        return representation.parts([list.span(division[place], isComplete: !isLast || list.isComplete)])[0]
    }

    /// Returns the index ranges of the segments of a representation of `later`, one for each part.
    /// - Returns: an empty array when it is divided differently and so cannot replace the others.
    func division(of representation: Representation) -> [Range<Int>] {
        guard let divided, case .list(let list) = representation.segments, list.gaps == divided.gaps,
            list.isComplete == divided.isComplete
        else { return [] }
        let places = list.spanPlaces
        return places.count == parts.count ? places : []
    }

    private static func parts(of all: [Representation], in period: Period) -> [Part] {
        guard let best = all.last else { return [] }
        switch best.segments {
        case .file(let file):
            // Only one representation of a file is used, and it is played to its end.
            let start = file.mediaOffset
            let clip = period.duration.map { start..<(start + max(0, $0)) } ?? start..<Double.infinity
            return [Part(representations: [best], clip: clip, duration: period.duration)]
        case .template:
            let templates = all.filter { if case .template = $0.segments { true } else { false } }
            return [
                Part(representations: templates, clip: period.media(of: best.segments), duration: period.duration)
            ]
        case .list(let list):
            let spans = list.spans
            // Representations that are divided differently cannot replace each other.
            let fitting = all.compactMap { other -> [Representation]? in
                guard case .list(let own) = other.segments, own.gaps == list.gaps else { return nil }
                let others = own.spans
                return others.count == spans.count ? other.parts(others) : nil
            }
            return spans.indices.map { index in
                Part(
                    representations: fitting.map { $0[index] }, clip: period.media(of: best.segments),
                    duration: spans[index].timeline.duration)
            }
        case .playlist: preconditionFailure("ContentLayout: a playlist that was not followed")
        }
    }
}

extension ContentLayout.Part {
    /// Joins this part and the next one, whose media is continuous and only divided by the manifest.
    /// - Returns: nil when the next part begins other media.
    fileprivate func continued(by next: ContentLayout.Part) -> ContentLayout.Part? {
        guard representations.count == next.representations.count, meets(next) else { return nil }
        var result = self
        result.duration = duration.flatMap { first in next.duration.map { first + $0 } }
        for place in representations.indices {
            guard
                let segments = Self.joined(
                    representations[place].segments, next.representations[place].segments, clip, next.clip)
            else { return nil }
            result.representations[place].segments = segments
        }
        if let clip, let other = next.clip { result.clip = clip.lowerBound..<other.upperBound }
        return result
    }

    fileprivate var isFile: Bool { if case .file? = representations.last?.segments { true } else { false } }

    /// Returns whether all media is played where the periods of two parts meet. Packagers round the end of a period.
    private func meets(_ next: ContentLayout.Part) -> Bool {
        guard let clip, let other = next.clip, clip.upperBound.isFinite, clip != other else { return true }
        return abs(clip.upperBound - other.lowerBound) < Self.boundaryTolerance
    }

    private static let boundaryTolerance = 0.1
    /// Less than half a sample.
    private static let leastCut = 2e-6

    /// Reduces the clip, which is the period of the segments, to the limits that cut something off.
    /// - Parameter rounding: the possible rounding of the last part's end, in seconds; nil when other parts follow.
    fileprivate mutating func fitClip(rounding: Double?) {
        guard let period = clip, let segments = representations.last?.segments, let place = segments.place else {
            return
        }
        clip = nil
        guard place.isExact else {
            // The first segment may begin before its period. The end of the last segment is unknown.
            let end = rounding == nil ? period.upperBound : .infinity
            if period.lowerBound > 0 || end.isFinite { clip = period.lowerBound..<end }
            return
        }
        let media = place.media
        let cutsStart = period.lowerBound > media.lowerBound + Self.leastCut
        let cutsEnd = period.upperBound + max(rounding ?? 0, SegmentList.tolerance) < media.upperBound
        let start = max(period.lowerBound, media.lowerBound)
        let end = cutsEnd ? period.upperBound : media.upperBound
        // Ignore times that do not overlap the period.
        guard cutsStart || cutsEnd, start + SegmentList.tolerance < end else { return }
        clip = start..<(cutsEnd ? end : .infinity)
        duration = end - start
        mediaStart = media.lowerBound
    }

    private static func joined(
        _ first: SegmentAddressing, _ second: SegmentAddressing, _ clip: Range<Double>?, _ next: Range<Double>?
    ) -> SegmentAddressing? {
        if case .file(let file) = first, case .file(let other) = second, file.url.utf8.elementsEqual(other.url.utf8),
            let clip, let next, abs(clip.upperBound - next.lowerBound) < SegmentList.tolerance
        {
            return first
        }
        guard let list = first.list, let other = second.list else { return nil }
        return list.continued(by: other).map { .list($0) }
    }
}

extension Period {
    /// Returns the media that the period plays, in seconds of the media's own time; nil when it does not limit its
    /// segments.
    fileprivate func media(of segments: SegmentAddressing) -> Range<Double>? {
        guard endRounding != nil else { return nil }
        let start = segments.mediaOffset
        return start..<(duration.map { start + max(0, $0) } ?? .infinity)
    }
}

extension SegmentAddressing {
    fileprivate var mediaOffset: Double {
        switch self {
        case .file(let file): file.mediaOffset
        case .list(let list): list.mediaOffset
        case .template(let template): template.mediaOffset
        case .playlist: 0
        }
    }

    /// The range of time of the segments, in seconds of the media's own time, and whether it is exact; nil for files.
    fileprivate var place: (media: Range<Double>, isExact: Bool)? {
        let (timeline, isExact): (SegmentTimeline, Bool)
        switch self {
        case .list(let list): (timeline, isExact) = (list.timeline, list.hasExactTimes)
        case .template(let template): (timeline, isExact) = (template.timeline(), template.hasExactTimes)
        case .file, .playlist: return nil
        }
        guard let first = timeline.start(of: timeline.firstIndex), let length = timeline.duration, length >= 0 else {
            return nil
        }
        let start = mediaOffset + first
        return (start..<(start + length), isExact)
    }

    fileprivate var list: SegmentList? {
        switch self {
        case .list(let list): list
        case .template(let template): template.list
        case .file, .playlist: nil
        }
    }
}

extension Representation {
    var isPlaylist: Bool { if case .playlist = segments { true } else { false } }

    /// Returns copies of this representation, one for each list of segments. The keys of a playlist with a key for each
    /// segment are left out: each part has only the keys of its own segments.
    func parts(_ lists: [SegmentList]) -> [Representation] {
        var template = self
        if case .list(let all) = segments, all.segments.contains(where: { !$0.keys.isEmpty }) {
            template.contentProtections = []
        }
        return lists.map { list in
            var part = template
            part.segments = .list(list)
            return part
        }
    }
}
