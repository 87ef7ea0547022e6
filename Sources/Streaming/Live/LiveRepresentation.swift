import Manifests
import Media

/// A representation of a live DASH manifest, which is looked up again each time the manifest is loaded.
struct LiveRepresentation {
    /// The representation as one load of the manifest describes it.
    struct State {
        /// The representation with the list of its segments.
        var representation: Representation
        var list: SegmentList
        /// Whether its period is the last one.
        var isLast: Bool
        /// The time from one load to the next, in seconds.
        var interval: Double
        /// How far before its end playback begins, in seconds.
        var delay: Double
        /// The duration of its longest segment, in seconds.
        var longest: Double
        /// The address to load the manifest from again; nil: the same as before.
        var location: String?
    }

    private let periodID: String?
    private let periodStart: Double
    private let id: String

    /// Finds the best representation of the last period, which is the one that grows.
    /// - Parameters:
    ///   - manifest: with its sets in the order of preference.
    ///   - quality: the delivered quality, by the service's name. A representation with this id is the only one.
    /// - Returns: nil for a manifest without sound in that period.
    init?(_ manifest: Manifest, quality: String?) {
        guard let period = manifest.periods.last, let set = period.adaptationSets.first else { return nil }
        guard let best = set.playable(quality: quality).last else { return nil }
        periodID = period.id
        periodStart = period.start
        id = best.id
    }

    /// Returns the representation as `manifest` describes it.
    /// - Returns: nil when the manifest no longer has it or does not list its segments. Also nil when the manifest is
    ///   live and has no update period.
    func state(in manifest: Manifest) -> State? {
        guard let index = manifest.periods.firstIndex(where: { isSame($0) }) else { return nil }
        for set in manifest.periods[index].adaptationSets {
            for candidate in set.representations where candidate.id.utf8.elementsEqual(id.utf8) {
                guard let list = Self.list(of: candidate.segments) else { return nil }
                var longest = 0.0
                for segment in list.segments { longest = max(longest, segment.duration) }
                var interval = longest
                if let live = manifest.live {
                    guard let period = live.updatePeriod else { return nil }
                    // With an update period of 0 it may change at any time.
                    if period > 0 { interval = period }
                }
                var representation = candidate
                representation.segments = .list(list)
                return State(
                    representation: representation, list: list, isLast: index == manifest.periods.count - 1,
                    interval: interval, delay: manifest.live?.suggestedDelay ?? LivePlaylist.delay * longest,
                    longest: longest,
                    location: manifest.live?.location)
            }
        }
        return nil
    }

    /// Compares the ids of the periods; without ids, their start times.
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
