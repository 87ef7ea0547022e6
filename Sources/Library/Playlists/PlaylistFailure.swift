import Platform

/// The reason why a stored playlist could not be read or changed. Nothing was changed.
package enum PlaylistFailure: Error, Equatable, Sendable {
    case noSuchPlaylist(String)
    /// A playlist of this name exists, perhaps in another case.
    case exists(String)
    /// No playlist can have this name.
    case badName(String)
    /// No playlist can have this entry.
    case badEntry(String)
    /// There is no entry at the index, among `count`.
    case noSuchEntry(index: Int, count: Int)
    case full(Limit)
    case system(SystemError)

    package enum Limit: Equatable, Sendable {
        case playlists
        /// The entries of a playlist.
        case entries
        /// The bytes of the file of a playlist.
        case bytes
    }
}

extension PlaylistFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSuchPlaylist(let name): "\(name): no such playlist"
        case .exists(let name): "\(name): a playlist of this name exists. Take another name, or delete that one"
        case .badName(let name):
            "\(Suggestion.quoted(name)): no name for a playlist. It has 1 to \(PlaylistName.mostBytes) bytes, does not "
                + "begin with a full stop, and has no slash and no control character"
        case .badEntry(let entry):
            "\(Suggestion.quoted(entry)): a playlist has absolute paths, and addresses of http, https and tonearm:"
        case .noSuchEntry(let index, let count): "no entry at index \(index): there are \(count)"
        case .full(.playlists): "there are \(PlaylistFolder.mostPlaylists) playlists, which is the limit: delete some"
        case .full(.entries): "a playlist has at most \(PlaylistFolder.mostEntries) entries"
        case .full(.bytes): "the paths of the playlist take too much room: its file would be larger than 8 MiB"
        case .system(let error): "the playlists cannot be used: \(error.description)"
        }
    }
}
