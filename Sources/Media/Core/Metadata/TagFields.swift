import PCM
import Platform

/// Collects the fields of one tag, in any order.
package struct TagFields {
    private var metadata = TrackMetadata()
    private var r128TrackGain: Double?
    private var r128AlbumGain: Double?
    /// The day and month of a date whose year is in another field.
    private var dayAndMonth: String?
    /// Whether R128 overrides replay gain, as in Opus (RFC 7845, 5.2.1).
    private let prefersR128: Bool

    package init(prefersR128: Bool = false) { self.prefersR128 = prefersR128 }

    /// The most bytes of one field: clients get the names with each event. Only the beginning of longer texts is read.
    static let longestText = 4096

    /// The meaning of a name in a tag.
    package enum Name {
        case field(TagField)
        case trackGain, trackPeak, albumGain, albumPeak
        case r128TrackGain, r128AlbumGain
        /// `DDMM` (ID3v2.3, 4.2.1, TDAT).
        case dayAndMonth
    }

    /// The names of Vorbis comments and APE, which others share for user-defined texts. In capitals, without blanks and
    /// underscores: ID3v2 and MP4 have `MusicBrainz Album Id` for `MUSICBRAINZ_ALBUMID`.
    private static let names: [(name: StaticString, meaning: Name)] = [
        ("TITLE", .field(.title)), ("ARTIST", .field(.artist)), ("ALBUM", .field(.album)),
        ("ALBUMARTIST", .field(.albumArtist)), ("COMPOSER", .field(.composer)), ("GENRE", .field(.genre)),
        ("DATE", .field(.date)), ("YEAR", .field(.date)),
        ("TRACKNUMBER", .field(.trackNumber)), ("TRACK", .field(.trackNumber)),
        ("TRACKTOTAL", .field(.trackTotal)), ("TOTALTRACKS", .field(.trackTotal)),
        ("DISCNUMBER", .field(.discNumber)), ("DISC", .field(.discNumber)),
        ("DISCTOTAL", .field(.discTotal)), ("TOTALDISCS", .field(.discTotal)),
        ("MUSICBRAINZTRACKID", .field(.recordingID)), ("MUSICBRAINZALBUMID", .field(.releaseID)),
        ("MUSICBRAINZRELEASEGROUPID", .field(.releaseGroupID)), ("MUSICBRAINZARTISTID", .field(.artistID)),
        ("MUSICBRAINZALBUMARTISTID", .field(.albumArtistID)),
        ("ARTISTSORT", .field(.artistSort)), ("ALBUMSORT", .field(.albumSort)),
        ("ALBUMARTISTSORT", .field(.albumArtistSort)), ("COMPOSERSORT", .field(.composerSort)),
        ("PERFORMER", .field(.performer)), ("CONDUCTOR", .field(.conductor)), ("WORK", .field(.work)),
        ("GROUPING", .field(.grouping)), ("LABEL", .field(.label)),
        ("ARTISTS", .field(.artists)), ("COMPILATION", .field(.compilation)),
        ("ITUNESCOMPILATION", .field(.compilation)),
        ("ORIGINALDATE", .field(.originalDate)), ("ORIGINALYEAR", .field(.originalDate)),
        ("REPLAYGAINTRACKGAIN", .trackGain), ("REPLAYGAINTRACKPEAK", .trackPeak),
        ("REPLAYGAINALBUMGAIN", .albumGain), ("REPLAYGAINALBUMPEAK", .albumPeak),
        ("R128TRACKGAIN", .r128TrackGain), ("R128ALBUMGAIN", .r128AlbumGain),
    ]

    /// The meaning of that name, in letters of any case, with blanks and underscores or without.
    package static func meaning(of name: some Collection<UInt8>) -> Name? {
        names.first { isName(name, $0.name) }?.meaning
    }

    /// Whether a name is the one with these capitals, in that sense.
    static func isName(_ name: some Collection<UInt8>, _ letters: StaticString) -> Bool {
        letters.withUTF8Buffer { letters in
            var offset = 0
            for byte in name where byte != 0x20 && byte != 0x5F {
                guard offset < letters.count, byte.uppercased == letters[offset] else { return false }
                offset += 1
            }
            return offset == letters.count
        }
    }

    /// - Parameter isCut: whether `text` is the beginning of a longer one.
    package mutating func add(_ name: Name, _ text: String, isCut: Bool = false) {
        guard let text = TagText.beginning(of: text, most: Self.longestText, isCut: isCut) else { return }
        switch name {
        case .field(let field): add(field, text)
        case .trackGain: Self.keep(Self.gain(text), in: &metadata.replayGain.trackGain)
        case .trackPeak: Self.keep(Self.peak(text), in: &metadata.replayGain.trackPeak)
        case .albumGain: Self.keep(Self.gain(text), in: &metadata.replayGain.albumGain)
        case .albumPeak: Self.keep(Self.peak(text), in: &metadata.replayGain.albumPeak)
        case .r128TrackGain: Self.keep(Self.r128Gain(text), in: &r128TrackGain)
        case .r128AlbumGain: Self.keep(Self.r128Gain(text), in: &r128AlbumGain)
        case .dayAndMonth: Self.keep(text, in: &dayAndMonth)
        }
    }

    /// Adds a value. When a field comes more than once, the first one counts; people, genres, dates and identifiers of
    /// people are listed. The more precise one of two dates that agree counts.
    package mutating func add(_ field: TagField, _ text: String) {
        switch field {
        case .title, .album, .artistSort, .albumSort, .albumArtistSort, .composerSort: keep(text, field)
        case .albumArtist, .artist, .artists, .composer, .performer, .conductor, .work, .grouping, .label:
            list(text, field)
        case .compilation: if TagNumber.ordinal(text) == 1 { keep("1", field) }
        case .genre: for genre in TagGenre.names(in: text) { list(genre, field) }
        case .date, .originalDate:
            guard let date = TagDate.normalised(text) else { return }
            // The more precise one of two that agree.
            let same = metadata[field].firstIndex { date.utf8.starts(with: $0.utf8) || $0.utf8.starts(with: date.utf8) }
            guard let same else { return list(date, field) }
            if date.utf8.count > metadata[field][same].utf8.count { metadata[field][same] = date }
        case .trackNumber: addNumbers(text, field, total: .trackTotal)
        case .discNumber: addNumbers(text, field, total: .discTotal)
        case .trackTotal, .discTotal: if let total = TagNumber.ordinal(text) { keep("\(total)", field) }
        case .recordingID, .releaseID, .releaseGroupID:
            if let id = TagIdentifier.all(in: text).first { keep(id, field) }
        case .artistID, .albumArtistID: for id in TagIdentifier.all(in: text) { list(id, field) }
        }
    }

    /// `3` or `3/12`.
    private mutating func addNumbers(_ text: String, _ field: TagField, total: TagField) {
        if let number = TagNumber.ordinal(text) { keep("\(number)", field) }
        let parts = text.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        if parts.count == 2 { add(total, String(decoding: parts[1], as: UTF8.self)) }
    }

    private mutating func keep(_ text: String, _ field: TagField) {
        if metadata[field].isEmpty { metadata[field] = [text] }
    }

    private mutating func list(_ text: String, _ field: TagField) {
        let known = metadata[field]
        let size = known.reduce(text.utf8.count) { $0 + $1.utf8.count + 2 }
        guard size <= Self.longestText, !known.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else { return }
        metadata[field].append(text)
    }

    /// The values of the tag. Replay gain overrides R128, unless it is the other way round. R128 has no peak: full
    /// scale is used.
    package var result: TrackMetadata {
        var result = metadata
        if let dayAndMonth, let year = metadata[.date].first, let date = TagDate.date(year, dayAndMonth) {
            result[.date][0] = date
        }
        if metadata.replayGain.trackGain == nil || prefersR128, let r128TrackGain {
            result.replayGain.trackGain = r128TrackGain
            result.replayGain.trackPeak = metadata.replayGain.trackPeak ?? 1
        }
        if metadata.replayGain.albumGain == nil || prefersR128, let r128AlbumGain {
            result.replayGain.albumGain = r128AlbumGain
            result.replayGain.albumPeak = metadata.replayGain.albumPeak ?? 1
        }
        return result
    }

    private static func keep<Value>(_ value: Value?, in field: inout Value?) {
        if field == nil { field = value }
    }

    /// No recording needs more than 64 dB; a larger number is a mistake.
    private static func gain(_ text: String) -> Double? {
        TagNumber.decimal(text).flatMap { abs($0) <= 64 ? $0 : nil }
    }

    private static func peak(_ text: String) -> Double? {
        TagNumber.decimal(text).flatMap { $0 > 0 && $0 <= 100 ? $0 : nil }
    }

    /// Q7.8 dB towards -23 LUFS (RFC 7845, 5.2.1); replay gain's reference is -18 LUFS.
    private static func r128Gain(_ text: String) -> Double? {
        TagNumber.integer(text).flatMap { (-32768...32767).contains($0) ? Double($0) / 256 + 5 : nil }
    }
}
