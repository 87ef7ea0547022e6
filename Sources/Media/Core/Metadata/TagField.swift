/// A field of a track's tags.
///
/// A new field is a case here, and its names in the tables of the formats: `TagFields.names` for Vorbis comments, APE,
/// and the named texts of ID3v2 and MP4, `ID3v2Frame.names`, and those of MP4, RIFF and AIFF. It is the last one: the
/// library stores the numbers.
public enum TagField: Int, CaseIterable, Sendable {
    case title, album
    /// All values are stored.
    case albumArtist, artist, composer, genre
    /// `2004`, `2004-05` or `2004-05-31`.
    case date
    /// Whole numbers from 1.
    case trackNumber, trackTotal, discNumber, discTotal
    /// MusicBrainz identifiers, in lower case.
    case recordingID, releaseID, releaseGroupID
    /// MusicBrainz identifiers of several people.
    case artistID, albumArtistID
    /// The forms by which lists are sorted: `Davis, Miles`.
    case artistSort, albumSort, albumArtistSort, composerSort
    /// All values are stored.
    case performer, conductor, work, grouping, label
    /// The first release, as `date`.
    case originalDate
    /// All artists, each by itself, where `artist` is a text like `A feat. B`.
    case artists
    /// `1` for an album with tracks of several artists.
    case compilation
}
