import Media

// Which sound of a manifest is played, and in which encodings (docs/playback.md, 15.11).

extension Manifest {
    /// The same manifest, with the sets of each period in the order in which they are preferred: the one that has the
    /// quality that came, then those that can be decoded, then the main ones, then as they are listed.
    func ordered(quality: String?) -> Manifest {
        var result = self
        for index in periods.indices {
            let sets = periods[index].adaptationSets
            var places = sets.indices.map { (rank: sets[$0].rank(quality), place: $0) }
            places.sort { ($0.rank, $0.place) < ($1.rank, $1.place) }
            result.periods[index].adaptationSets = places.map { sets[$0.place] }
        }
        return result
    }

    /// Of the first set; nil without sound.
    func best(quality: String?) -> Representation? {
        periods.first?.adaptationSets.first?.encodings(quality: quality).last
    }
}

extension AdaptationSet {
    private static let mostEncodings = 8

    var isDecodable: Bool { representations.contains { $0.isDecodable } }

    /// The encodings among which a player may switch: those that it can decode. The lowest bandwidth first.
    /// - Parameter quality: what came, by the service's name. A representation with this id is the only one.
    func encodings(quality: String?) -> [Representation] {
        let decodable = representations.filter { $0.isDecodable }
        var all = decodable.isEmpty ? representations : decodable
        if let named = all.first(where: { $0.isNamed(quality) }) { return [named] }
        all.sort { ($0.bandwidth ?? 0) < ($1.bandwidth ?? 0) }
        return Array(all.suffix(Self.mostEncodings))
    }

    /// The lowest is preferred.
    fileprivate func rank(_ quality: String?) -> Int {
        let isNamed = representations.contains { $0.isDecodable && $0.isNamed(quality) }
        return (isNamed ? 0 : isDecodable ? 2 : 4) + (isMain ? 0 : 1)
    }
}

extension Representation {
    fileprivate func isNamed(_ quality: String?) -> Bool { quality.map { $0.utf8.elementsEqual(id.utf8) } ?? false }

    fileprivate var isDecodable: Bool { codecs.isEmpty || codecs.contains(where: AudioFormats.hasDecoder) }
}
