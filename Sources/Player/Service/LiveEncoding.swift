import Media

/// One encoding of a live manifest of DASH, which is found again each time that the manifest is loaded.
struct LiveEncoding {
    /// What a manifest says of it.
    struct State {
        /// With the list of its segments.
        var representation: Representation
        var list: SegmentList
        /// Whether no other period follows.
        var isLast: Bool
        /// From one load to the next, in seconds.
        var interval: Double
        /// How far before its end it begins, in seconds.
        var delay: Double
        /// Duration of its longest segment, in seconds.
        var longest: Double
        /// Where the manifest is loaded again; nil: from where it came.
        var location: String?
    }

    private let periodID: String?
    private let periodStart: Double
    private let id: String

    /// The best one of the last period, which is the one that grows.
    /// - Parameters:
    ///   - manifest: with its sets in the order in which they are preferred.
    ///   - quality: what came, by the service's name. A representation with this id is the only one.
    /// - Returns: nil for a manifest without sound in that period.
    init?(_ manifest: Manifest, quality: String?) {
        guard let period = manifest.periods.last, let set = period.adaptationSets.first else { return nil }
        guard let best = set.encodings(quality: quality).last else { return nil }
        periodID = period.id
        periodStart = period.start
        id = best.id
    }

    /// - Returns: nil when the manifest does not have it any more, does not list its segments, or is live and does not
    ///   say how often it changes.
    func state(in manifest: Manifest) -> State? {
        guard let place = manifest.periods.firstIndex(where: { isSame($0) }) else { return nil }
        for set in manifest.periods[place].adaptationSets {
            for candidate in set.representations where candidate.id.utf8.elementsEqual(id.utf8) {
                guard let list = Self.list(of: candidate.segments) else { return nil }
                var longest = 0.0
                for segment in list.segments { longest = max(longest, segment.duration) }
                var interval = longest
                if let live = manifest.live {
                    guard let period = live.updatePeriod else { return nil }
                    // 0: it may change at any time.
                    if period > 0 { interval = period }
                }
                var representation = candidate
                representation.segments = .list(list)
                return State(
                    representation: representation, list: list, isLast: place == manifest.periods.count - 1,
                    interval: interval, delay: manifest.live?.suggestedDelay ?? LivePlaylist.delay * longest,
                    longest: longest,
                    location: manifest.live?.location)
            }
        }
        return nil
    }

    /// By its id; without one by when it begins.
    private func isSame(_ period: Period) -> Bool {
        if let periodID, let other = period.id { return periodID.utf8.elementsEqual(other.utf8) }
        return abs(period.start - periodStart) < SegmentList.tolerance
    }

    private static func list(of addressing: SegmentAddressing) -> SegmentList? {
        switch addressing {
        case .list(let list): list
        case .template(let template): template.list ?? template.listed
        case .file, .playlist: nil
        }
    }
}
