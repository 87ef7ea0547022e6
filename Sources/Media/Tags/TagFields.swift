import PCM

/// Collects the fields of one tag, in any order.
struct TagFields {
    private var metadata = TrackMetadata()
    private var r128TrackGain: Double?
    private var r128AlbumGain: Double?
    /// Whether R128 overrides replay gain, as in Opus (RFC 7845, 5.2.1).
    private let prefersR128: Bool

    init(prefersR128: Bool = false) { self.prefersR128 = prefersR128 }

    /// In bytes: clients get the names with each event.
    private static let longestArtists = 4096

    enum Field {
        case title, artist, album, albumArtist, trackNumber, discNumber
        case trackGain, trackPeak, albumGain, albumPeak
        case r128TrackGain, r128AlbumGain
    }

    /// The names of Vorbis comments, which ID3's user-defined texts share for replay gain.
    private static let names: [(name: StaticString, field: Field)] = [
        ("TITLE", .title), ("ARTIST", .artist), ("ALBUM", .album), ("ALBUMARTIST", .albumArtist),
        ("TRACKNUMBER", .trackNumber), ("DISCNUMBER", .discNumber),
        ("REPLAYGAIN_TRACK_GAIN", .trackGain), ("REPLAYGAIN_TRACK_PEAK", .trackPeak),
        ("REPLAYGAIN_ALBUM_GAIN", .albumGain), ("REPLAYGAIN_ALBUM_PEAK", .albumPeak),
        ("R128_TRACK_GAIN", .r128TrackGain), ("R128_ALBUM_GAIN", .r128AlbumGain),
    ]

    /// The field of that name, in letters of any case.
    static func field(named name: some Collection<UInt8>) -> Field? {
        names.first { known in
            known.name.utf8CodeUnitCount == name.count
                && known.name.withUTF8Buffer { $0.elementsEqual(name) { $0 == uppercased($1) } }
        }?.field
    }

    private static func uppercased(_ byte: UInt8) -> UInt8 {
        (0x61...0x7A).contains(byte) ? byte - 0x20 : byte
    }

    /// When a field comes more than once, the first one counts; artists are listed.
    mutating func add(_ field: Field, _ text: String) {
        switch field {
        case .title: Self.keep(text, in: &metadata.title)
        case .artist: add(artist: text)
        case .album: Self.keep(text, in: &metadata.album)
        case .albumArtist: Self.keep(text, in: &metadata.albumArtist)
        case .trackNumber: Self.keep(TagNumber.ordinal(text), in: &metadata.trackNumber)
        case .discNumber: Self.keep(TagNumber.ordinal(text), in: &metadata.discNumber)
        case .trackGain: Self.keep(Self.gain(text), in: &metadata.replayGain.trackGain)
        case .trackPeak: Self.keep(Self.peak(text), in: &metadata.replayGain.trackPeak)
        case .albumGain: Self.keep(Self.gain(text), in: &metadata.replayGain.albumGain)
        case .albumPeak: Self.keep(Self.peak(text), in: &metadata.replayGain.albumPeak)
        case .r128TrackGain: r128TrackGain = r128TrackGain ?? Self.r128Gain(text)
        case .r128AlbumGain: r128AlbumGain = r128AlbumGain ?? Self.r128Gain(text)
        }
    }

    private mutating func add(artist: String) {
        guard let others = metadata.artist else { return metadata.artist = artist }
        guard others.utf8.count + 2 + artist.utf8.count <= Self.longestArtists else { return }
        metadata.artist = others + ", " + artist
    }

    /// The values of the tag. Replay gain overrides R128, unless it is the other way round. R128 has no peak: full
    /// scale is used.
    var result: TrackMetadata {
        var result = metadata
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

extension TrackMetadata {
    /// These fields, replaced by those that `other` has.
    func overridden(by other: TrackMetadata?) -> TrackMetadata {
        guard let other else { return self }
        var result = other
        result.title = other.title ?? title
        result.artist = other.artist ?? artist
        result.album = other.album ?? album
        result.albumArtist = other.albumArtist ?? albumArtist
        result.trackNumber = other.trackNumber ?? trackNumber
        result.discNumber = other.discNumber ?? discNumber
        result.picture = other.picture ?? picture
        result.gapless = other.gapless ?? gapless
        result.replayGain.trackGain = other.replayGain.trackGain ?? replayGain.trackGain
        result.replayGain.trackPeak = other.replayGain.trackPeak ?? replayGain.trackPeak
        result.replayGain.albumGain = other.replayGain.albumGain ?? replayGain.albumGain
        result.replayGain.albumPeak = other.replayGain.albumPeak ?? replayGain.albumPeak
        return result
    }
}
