import Library

/// A request about stored playlists, independent of the protocol.
package enum PlaylistRequest: Equatable, Sendable {
    case all(LibraryRequest.Page)
    case entries(of: String, LibraryRequest.Page)
    /// Saves the queue as a playlist.
    /// - Parameter replaces: whether it may replace a playlist of that name.
    case save(String, replaces: Bool)
    /// Removes entries by their indexes; indexes beyond the end are ignored.
    case remove(Range<Int>, of: String)
    case move(from: Int, to: Int, of: String)
    case rename(String, to: String)
    case delete(String)
}

/// The answer to a request about stored playlists.
package enum PlaylistReply: Equatable {
    case done
    case all(ListPart<ListedPlaylist>, from: Int)
    /// - Parameter path: the path of the playlist's file.
    case entries(ListPart<LibraryEntry>, from: Int, path: String)
    /// The number of entries that were added, and of names below folders that could not be read.
    case added(Int, skipped: Int)
    /// The number of removed entries.
    case removed(Int)
}

/// A stored playlist in a list.
package struct ListedPlaylist: Equatable {
    package var name: String
    /// The time of its last change in seconds since 1970.
    package var modified: Int64
}
