import Appliance
import Media
import Platform

/// A tag with MPD's name. Its raw value is its bit number in `MPDTags`.
///
/// The order is that of `tagtypes`: some clients stop reading at the first MusicBrainz tag.
enum MPDTag: UInt8, CaseIterable, Sendable {
    case artist, artistSort, album, albumSort, albumArtist, albumArtistSort, title, track, name, genre, date
    case originalDate, composer, composerSort, performer, conductor, work, movement, movementNumber, ensemble
    case location, grouping, disc, label
    case artistID, albumID, albumArtistID, trackID, releaseTrackID, workID
    /// MPD accepts this tag in filters, but does not send it.
    case comment

    var text: StaticString {
        switch self {
        case .artist: "Artist"
        case .artistSort: "ArtistSort"
        case .album: "Album"
        case .albumSort: "AlbumSort"
        case .albumArtist: "AlbumArtist"
        case .albumArtistSort: "AlbumArtistSort"
        case .title: "Title"
        case .track: "Track"
        case .name: "Name"
        case .genre: "Genre"
        case .date: "Date"
        case .originalDate: "OriginalDate"
        case .composer: "Composer"
        case .composerSort: "ComposerSort"
        case .performer: "Performer"
        case .conductor: "Conductor"
        case .work: "Work"
        case .movement: "Movement"
        case .movementNumber: "MovementNumber"
        case .ensemble: "Ensemble"
        case .location: "Location"
        case .grouping: "Grouping"
        case .disc: "Disc"
        case .label: "Label"
        case .artistID: "MUSICBRAINZ_ARTISTID"
        case .albumID: "MUSICBRAINZ_ALBUMID"
        case .albumArtistID: "MUSICBRAINZ_ALBUMARTISTID"
        case .trackID: "MUSICBRAINZ_TRACKID"
        case .releaseTrackID: "MUSICBRAINZ_RELEASETRACKID"
        case .workID: "MUSICBRAINZ_WORKID"
        case .comment: "Comment"
        }
    }

    /// Finds a tag by its name, in letters of any case.
    init?(named name: String) {
        guard let tag = Self.allCases.first(where: { MPDWord.isEqual(name, $0.text) }) else { return nil }
        self = tag
    }

    init?(_ field: TagField) {
        switch field {
        case .title: self = .title
        case .album: self = .album
        case .albumArtist: self = .albumArtist
        case .artist: self = .artist
        case .composer: self = .composer
        case .genre: self = .genre
        case .date: self = .date
        case .trackNumber: self = .track
        case .discNumber: self = .disc
        case .recordingID: self = .trackID
        case .releaseID: self = .albumID
        case .artistID: self = .artistID
        case .albumArtistID: self = .albumArtistID
        case .artistSort: self = .artistSort
        case .albumSort: self = .albumSort
        case .albumArtistSort: self = .albumArtistSort
        case .composerSort: self = .composerSort
        case .performer: self = .performer
        case .conductor: self = .conductor
        case .work: self = .work
        case .grouping: self = .grouping
        case .label: self = .label
        case .originalDate: self = .originalDate
        case .trackTotal, .discTotal, .releaseGroupID, .artists, .compilation: return nil
        }
    }

    /// The tag for the number of each `TagField`.
    static let ofFields: [MPDTag?] = TagField.allCases.map { MPDTag($0) }

    /// The most bytes of a name.
    static let longestName = MPDTag.allCases.reduce(0) { max($0, $1.text.utf8CodeUnitCount) }

    /// The tags that replace a missing one. The first existing tag is used.
    var substitutes: [MPDTag] {
        switch self {
        case .artistSort, .albumArtist: [.artist]
        case .albumArtistSort: [.albumArtist, .artistSort, .artist]
        case .albumSort: [.album]
        default: []
        }
    }

    /// The tags that replace a missing one for `sort`.
    var sortSubstitutes: [MPDTag] {
        switch self {
        case .albumArtistSort: [.albumArtist, .artist]
        case .composerSort: [.composer]
        case .albumArtistID: [.artistID]
        default: substitutes
        }
    }
}

/// The tags that a client has requested with `tagtypes`.
struct MPDTags: OptionSet, Sendable {
    let rawValue: UInt64

    init(rawValue: UInt64) { self.rawValue = rawValue }
    init(_ tag: MPDTag) { rawValue = 1 << UInt64(tag.rawValue) }

    /// The tags that music can have here, and the names of stations.
    static let all = MPDTag.allCases.reduce(into: MPDTags()) { all, tag in
        if tag == .name || MPDTag.ofFields.contains(tag) { all.insert(MPDTags(tag)) }
    }

    func contains(_ tag: MPDTag) -> Bool { rawValue >> UInt64(tag.rawValue) & 1 == 1 }

    /// The tags in the order of `tagtypes`.
    var list: [MPDTag] { MPDTag.allCases.filter { contains($0) } }

    /// Finds a tag by its name, in letters of any case; nil when MPD has none of that name.
    static func parse(_ name: String) -> MPDTags? { MPDTag(named: name).map { MPDTags($0) } }
}

/// Words of the protocol.
enum MPDWord {
    /// Compares in letters of ASCII of any case.
    static func isEqual(_ text: String, _ word: StaticString) -> Bool {
        guard text.utf8.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { word in text.utf8.elementsEqual(word) { $0.lowercased == $1.lowercased } }
    }

    /// Compares by bytes.
    static func isSame(_ text: String, _ word: StaticString) -> Bool {
        word.withUTF8Buffer { text.utf8.elementsEqual($0) }
    }

}
