import Appliance
import Library

/// The condition of `find` and similar commands, as a value.
///
///     let filter = try MPDFilter(parsing: ["((Artist == 'Nico') AND (base 'Rock'))"], isSearch: false)
///     song.matches(filter)
indirect enum MPDFilter: Sendable {
    case all([MPDFilter])
    case not(MPDFilter)
    /// nil for any tag.
    case tag(MPDTag?, MPDTextTest)
    case file(MPDTextTest)
    /// A folder, with all its contents.
    case base([UInt8])
    /// Seconds since 1970.
    case modifiedSince(Int64)
    case format(MPDAudioFormat)
    /// A priority of at least this number.
    case priority(Int)

    /// Whether the filter reads the folded tags.
    var usesFolded: Bool {
        switch self {
        case .all(let filters): filters.contains { $0.usesFolded }
        case .not(let filter): filter.usesFolded
        case .tag(_, let test): test.usesFolded
        case .file, .base, .modifiedSince, .format, .priority: false
        }
    }

    /// Whether the filter reads the URI.
    var usesURI: Bool {
        switch self {
        case .all(let filters): filters.contains { $0.usesURI }
        case .not(let filter): filter.usesURI
        case .file, .base: true
        case .tag, .modifiedSince, .format, .priority: false
        }
    }

    /// The conditions that must all hold.
    var parts: [MPDFilter] {
        if case .all(let filters) = self { filters.flatMap { $0.parts } } else { [self] }
    }

    // MARK: Songs

    /// - Parameter song: with its folded tags if `usesFolded`.
    func matches(_ song: MPDSong) -> Bool {
        switch self {
        case .all(let filters): return filters.allSatisfy { $0.matches(song) }
        case .not(let filter): return !filter.matches(song)
        case .tag(nil, let test): return Self.hasAny(song, test) != test.isNegated
        case .tag(.some(let tag), let test): return Self.has(tag, song, test) != test.isNegated
        case .file(let test):
            guard test.usesFolded else { return test.finds(song.uri[...]) != test.isNegated }
            var folded: [UInt8] = []
            FoldedText.append(song.uri[...], to: &folded)
            return test.finds(folded[...]) != test.isNegated
        case .base(let folder):
            return folder.isEmpty
                || song.uri.starts(with: folder)
                    && (song.uri.count == folder.count || song.uri[folder.count] == UInt8(ascii: "/"))
        case .modifiedSince(let time): return song.details?.modified ?? 0 >= time
        case .format(let format): return song.details.map { format.includes($0.format) } ?? false
        case .priority(let least): return song.priority >= least
        }
    }

    private static func hasAny(_ song: MPDSong, _ test: MPDTextTest) -> Bool {
        let tags = test.usesFolded ? song.foldedTags : song.tags
        if test.cannotFind(in: tags) { return false }
        var isFound = false
        MPDSong.forEachValue(in: tags) { _, value in
            isFound = test.finds(value)
            return !isFound
        }
        return isFound
    }

    /// A missing tag counts as an empty one.
    private static func has(_ tag: MPDTag, _ song: MPDSong, _ test: MPDTextTest) -> Bool {
        let tags = test.usesFolded ? song.foldedTags : song.tags
        if test.cannotFind(in: tags) { return false }
        let substitutes = tag.substitutes
        var best = Int.max
        var isFound = false
        MPDSong.forEachValue(in: tags) { found, value in
            guard let rank = found == tag ? 0 : substitutes.firstIndex(of: found).map({ $0 + 1 }), rank <= best
            else { return true }
            if rank < best { (best, isFound) = (rank, false) }
            if !isFound { isFound = test.finds(value) }
            return true
        }
        return best == .max ? test.value.isEmpty : isFound
    }

    // MARK: Tracks of the index

    /// Returns conditions on tracks that all matching songs fulfil. They let the index skip most tracks. `matches`
    /// tests the other conditions.
    func trackFilter(_ paths: MusicURIs) -> TrackFilter { .all(parts.compactMap { $0.condition(paths) }) }

    private func condition(_ paths: MusicURIs) -> TrackFilter? {
        switch self {
        case .tag(.some(let tag), let test):
            guard case .equals = test.kind, !test.ignoresCase, !test.isNegated, !test.value.isEmpty else { return nil }
            let value = String(decoding: test.value, as: UTF8.self)
            return tag == .album ? .albumTitle(value) : Self.kind(of: tag).map { .text($0, value) }
        case .file(let test):
            guard case .equals = test.kind, !test.ignoresCase, !test.isNegated else { return nil }
            return paths.path(ofURI: String(decoding: test.value, as: UTF8.self)).map { .path($0) }
        default: return nil
        }
    }

    private static func kind(of tag: MPDTag) -> NameKind? {
        switch tag {
        case .artist: .artist
        case .albumArtist: .albumArtist
        case .composer: .composer
        case .genre: .genre
        case .date: .date
        default: nil
        }
    }
}
