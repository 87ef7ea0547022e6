import PCM

/// The values of a container's tags for a track. UTF-8, without trailing NULs and blanks.
///
///     metadata.title                 // the value of a field with one
///     metadata[.genre]               // all values of a field
///     front.overridden(by: own)      // field by field
public struct TrackMetadata: Equatable, Sendable {
    /// The values of each field, at its number.
    private var values = [[String]](repeating: [], count: TagField.allCases.count)
    public var replayGain = ReplayGain()
    /// The embedded pictures, in the order of the tag.
    public var pictures: [TagPicture] = []
    /// The frames that an encoder added, if a tag contains them.
    var gapless: GaplessTag?

    public init() {}

    /// All values of a field, as `TagField` describes them.
    public subscript(field: TagField) -> [String] {
        get { values[field.rawValue] }
        set { values[field.rawValue] = newValue }
    }

    /// These values, overridden by the fields that `other` has.
    /// - Parameter base: where in the file the bytes begin that the pictures of `other` count from.
    public func overridden(by other: TrackMetadata?, at base: Int64 = 0) -> TrackMetadata {
        guard var result = other else { return self }
        for field in TagField.allCases where result[field].isEmpty { result[field] = self[field] }
        result.replayGain.fill(from: replayGain)
        for index in result.pictures.indices { result.pictures[index].move(by: base) }
        if result.pictures.isEmpty { result.pictures = pictures }
        result.gapless = result.gapless ?? gapless
        return result
    }
}

// MARK: Fields that programs name

extension TrackMetadata {
    public var title: String? {
        get { self[.title].first }
        set { set(.title, newValue) }
    }

    /// All artists, with commas.
    public var artist: String? {
        get { joined(.artist) }
        set { set(.artist, newValue) }
    }

    public var album: String? {
        get { self[.album].first }
        set { set(.album, newValue) }
    }

    /// The artists of the album with commas, where tracks have their own artists.
    public var albumArtist: String? {
        get { joined(.albumArtist) }
        set { set(.albumArtist, newValue) }
    }

    /// The number of the track, from 1.
    public var trackNumber: Int? {
        get { number(.trackNumber) }
        set { set(.trackNumber, newValue.map { "\($0)" }) }
    }

    /// The number of the disc, from 1.
    public var discNumber: Int? {
        get { number(.discNumber) }
        set { set(.discNumber, newValue.map { "\($0)" }) }
    }

    /// Whether it is a track of an album with several artists.
    public var isCompilation: Bool { !self[.compilation].isEmpty }

    /// The front cover, or the first picture of another kind.
    public var picture: TagPicture? { pictures.first { $0.isFront } ?? pictures.first }

    /// The values of a field with commas; nil without one.
    public func joined(_ field: TagField) -> String? {
        self[field].isEmpty ? nil : self[field].joined(separator: ", ")
    }

    /// The value of a numeric field.
    public func number(_ field: TagField) -> Int? { self[field].first.flatMap(TagNumber.ordinal) }

    private mutating func set(_ field: TagField, _ text: String?) {
        if let text { self[field] = [text] } else { self[field] = [] }
    }
}

extension ReplayGain {
    /// Takes the values that are missing here.
    fileprivate mutating func fill(from other: ReplayGain) {
        trackGain = trackGain ?? other.trackGain
        trackPeak = trackPeak ?? other.trackPeak
        albumGain = albumGain ?? other.albumGain
        albumPeak = albumPeak ?? other.albumPeak
    }
}
