import Library

/// A request about the library, independent of the protocol.
public enum LibraryRequest: Equatable, Sendable {
    /// Compares all music folders with the index.
    case scan
    case status
    /// Tracks, albums and artists with all words.
    case search(words: String, Page)
    /// A list of the index.
    /// - Parameter of: the number, name or path to which the entries belong; nil for all.
    case list(List, of: String?, Page)
    /// A list of music that was heard or marked as a favourite.
    case heard(HeardList, Page)
    /// Adds music to the favourites, or removes it.
    /// - Parameters:
    ///   - path: a path or an address; nil for the current entry.
    ///   - isOn: nil to toggle.
    case favourite(path: String?, isOn: Bool?)

    public enum List: CaseIterable, Equatable, Sendable {
        case artists, albums, tracks, genres, folders, recent
    }

    public enum HeardList: Equatable, Sendable {
        /// Tracks, the ones that were heard last first.
        case played
        /// Each play.
        case history
        case favourites
    }

    /// Whether the request needs the index, which exists only with music folders.
    var needsIndex: Bool {
        switch self {
        case .favourite, .heard: false
        case .scan, .status, .search, .list: true
        }
    }

    /// A part of a list.
    public struct Page: Equatable, Sendable {
        public var from: Int
        public var count: Int

        public init(from: Int, count: Int) {
            self.from = from
            self.count = count
        }

        var page: ListPage { ListPage(limit: Int64(count), offset: Int64(from)) }
    }
}

/// The answer to a request about the library.
package enum LibraryReply: Equatable {
    case status(LibraryStatus)
    case entries(ListPart<LibraryEntry>, from: Int)
    /// The music, and whether it is a favourite now.
    case favourite(path: String, isOn: Bool)
    /// The best albums and artists, and a page of tracks.
    case found(tracks: ListPart<LibraryEntry>, from: Int, albums: [Album], artists: [SharedName])
}

/// An entry of a list.
package enum LibraryEntry: Equatable {
    case music(ListedMusic)
    case album(Album)
    case name(SharedName)
    case folder(String)
}
