import Manifests
import Media
import Platform
import Playback

// Which sound of a manifest is played, and in which representations (docs/playback.md, 15.11).

extension Manifest {
    /// Returns the manifest with the sets of each period in order of preference: the set of the delivered quality, then
    /// decodable sets, then main sets, then the order of the manifest. Sets that differ only in codec and bandwidth are
    /// joined.
    func ordered(quality: String?) -> Manifest {
        var result = self
        for index in periods.indices {
            let sets = AdaptationSet.joined(periods[index].adaptationSets, quality)
            var places = sets.indices.map { (rank: sets[$0].rank(quality), place: $0) }
            places.sort { ($0.rank, $0.place) < ($1.rank, $1.place) }
            result.periods[index].adaptationSets = places.map { sets[$0.place] }
        }
        return result
    }

    /// Returns the best representation of the first set; nil without sound.
    func best(quality: String?) -> Representation? {
        periods.first?.adaptationSets.first?.playable(quality: quality).last
    }
}

extension AdaptationSet {
    private static let mostRepresentations = 8

    var isDecodable: Bool { representations.contains { $0.isDecodable } }

    /// Returns the decodable representations, among which a player may switch. The lowest bandwidth comes first.
    /// - Parameter quality: the delivered quality, by the service's name. A representation with this id is the only
    ///   one.
    func playable(quality: String?) -> [Representation] {
        let decodable = representations.filter { $0.isDecodable }
        var all = decodable.isEmpty ? representations : decodable
        if let named = all.first(where: { $0.isNamed(quality) }) { return [named] }
        // The quality is a limit that the user has set for this link.
        if WantedCodecs(quality) == .lossy, all.contains(where: { !$0.isLossless }) { all.removeAll { $0.isLossless } }
        all.sort { ($0.bandwidth ?? 0) < ($1.bandwidth ?? 0) }
        return Array(all.suffix(Self.mostRepresentations))
    }

    /// Joins sets of the same sound. Without a known quality the wanted codecs are unknown, and the sets stay separate.
    fileprivate static func joined(_ sets: [AdaptationSet], _ quality: String?) -> [AdaptationSet] {
        guard sets.count > 1, WantedCodecs(quality) != nil else { return sets }
        var result: [AdaptationSet] = []
        for set in sets {
            if let place = result.firstIndex(where: { $0.isSameSound(as: set) }) {
                result[place].representations += set.representations
                result[place].groups += set.groups
            } else {
                result.append(set)
            }
        }
        return result
    }

    /// Returns whether the other set has the same sound in another codec, as far as the manifest shows. Two sets in one
    /// codec differ in something else.
    private func isSameSound(as other: AdaptationSet) -> Bool {
        func isSame(_ one: String?, _ other: String?) -> Bool {
            (one ?? "").utf8.elementsEqual((other ?? "").utf8)
        }
        guard isMain == other.isMain, isSame(language, other.language), roles.count == other.roles.count,
            zip(roles, other.roles).allSatisfy({ $0.utf8.elementsEqual($1.utf8) }),
            !groups.contains(where: { group in other.groups.contains { $0.utf8.elementsEqual(group.utf8) } })
        else { return false }
        for one in representations {
            guard let family = one.codecFamily else { return false }
            for another in other.representations {
                guard let otherFamily = another.codecFamily, !family.elementsEqual(otherFamily),
                    one.channelCount == nil || another.channelCount == nil
                        || one.channelCount == another.channelCount
                else { return false }
            }
        }
        return true
    }

    /// Returns the rank of the set; the lowest is preferred.
    fileprivate func rank(_ quality: String?) -> Int {
        let isNamed = representations.contains { $0.isDecodable && $0.isNamed(quality) }
        return (isNamed ? 0 : isDecodable ? 2 : 4) + (isMain ? 0 : 1)
    }
}

extension Representation {
    fileprivate func isNamed(_ quality: String?) -> Bool { quality.map { $0.utf8.elementsEqual(id.utf8) } ?? false }

    fileprivate var isDecodable: Bool {
        !isWebM && (codecs.isEmpty || codecs.contains(where: AudioFormats.hasDecoder))
    }

    /// Whether its segments are WebM, which is not supported.
    private var isWebM: Bool { mimeType.map { $0.utf8.elementsEqual("audio/webm".utf8) } ?? false }

    /// The name of the codec without its profile, such as `mp4a`; nil when the manifest does not name a codec.
    fileprivate var codecFamily: [UInt8]? {
        codecs.first.map { codec in
            codec.utf8.prefix { $0 != UInt8(ascii: ".") }.map { $0.lowercased }
        }
    }

    fileprivate var isLossless: Bool {
        codecFamily.map { $0.elementsEqual("flac".utf8) || $0.elementsEqual("alac".utf8) } ?? false
    }
}

/// The codecs that belong to a quality.
private enum WantedCodecs {
    case lossy
    /// Includes lossy codecs, for a throughput that is too low for lossless ones.
    case lossless

    /// - Parameter quality: the service's name.
    init?(_ quality: String?) {
        switch quality.flatMap(AudioQuality.init(serviceName:)) {
        case .low, .high: self = .lossy
        case .lossless, .hiRes, .hiResLossless: self = .lossless
        case nil: return nil
        }
    }
}
