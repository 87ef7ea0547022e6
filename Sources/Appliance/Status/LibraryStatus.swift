import Library

/// The size of the library, and its activity.
public struct LibraryStatus: Equatable, Sendable {
    package var folders: [String] = []
    package var tracks: Int64 = 0
    package var albums: Int64 = 0
    package var artists: Int64 = 0
    package var playlists: Int64 = 0
    /// The size of the index.
    package var bytes: Int64 = 0
    package var progress = ScanProgress()
}
