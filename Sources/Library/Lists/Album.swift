/// An album: tracks with the same album title, and with the same album artist or in the same folder
/// (docs/decisions/library.md).
package struct Album: Equatable, Sendable {
    /// The id, which stays the same as long as the index exists.
    package var id: Int64
    package var title: String
    /// Empty when the tracks have several artists, and no album artist.
    package var artist: String
    package var trackCount: Int64
    /// The number of its discs, from 1.
    package var discCount: Int64
    /// The earliest date of its tracks; nil without one.
    package var date: String?

    package init(
        id: Int64, title: String, artist: String, trackCount: Int64, discCount: Int64 = 1, date: String? = nil
    ) {
        self.id = id
        self.title = title
        self.artist = artist
        self.trackCount = trackCount
        self.discCount = discCount
        self.date = date
    }
}

/// A playlist file of the music folders.
package struct Playlist: Equatable, Sendable {
    /// The id, which stays the same as long as the index exists.
    package var id: Int64
    package var title: String
    /// The number of its entries that are in the index.
    package var trackCount: Int64

    package init(id: Int64, title: String, trackCount: Int64) {
        self.id = id
        self.title = title
        self.trackCount = trackCount
    }
}

/// A value of a tag that several tracks share: an artist, a genre, a date.
package struct SharedName: Equatable, Sendable {
    /// The id, which stays the same as long as the index exists.
    package var id: Int64
    package var text: String

    package init(id: Int64, text: String) {
        self.id = id
        self.text = text
    }
}
