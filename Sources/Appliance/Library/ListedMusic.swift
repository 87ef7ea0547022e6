import Database
import Library
import Platform
import Player

/// Music in a list: a track of the library, or a path or address outside of the library.
package struct ListedMusic: Equatable {
    /// The path or the address that the queue plays.
    package var path: String
    /// The track; nil for music that is not in the library (any more).
    package var track: Track?
    /// How often the track was heard, in lists that contain this.
    package var plays: PlayCount?
    /// The time at which the music was heard, in seconds since 1970; only in the history.
    package var heard: Int64?
    package var isFavourite: Bool

    init(_ track: Track, plays: PlayCount? = nil, isFavourite: Bool) {
        path = track.playedPath
        self.track = track
        self.plays = plays
        self.isFavourite = isFavourite
    }

    /// Finds the music at a path. Blocks on the medium.
    init(at path: String, in index: MusicIndex?, _ favourites: FavouriteSet?) {
        self.path = path
        track = index.flatMap { index in Self.find { () throws(DatabaseError) in try index.track(playing: path) } }
        isFavourite = favourites?.contains(track?.content ?? FavouriteRows.key(of: path)) ?? false
    }

    /// Finds the music with this content, wherever its file is now. Blocks on the medium.
    /// - Parameter address: the former path of the music, or the address of a product.
    init(_ content: Int64, once address: String, in index: MusicIndex?, _ favourites: FavouriteSet) {
        track = index.flatMap { index in
            Self.find { () throws(DatabaseError) in
                let tracks = try index.tracks(TrackQuery(.content(content)))
                return tracks.first { $0.playedPath.utf8.elementsEqual(address.utf8) } ?? tracks.first
            }
        }
        path = track?.playedPath ?? address
        isFavourite = favourites.contains(content)
    }

    private static func find(_ track: () throws(DatabaseError) -> Track?) -> Track? {
        do throws(DatabaseError) { return try track() } catch {
            Log.warning("the library cannot be read: \(error.description)")
            return nil
        }
    }
}

extension MusicIndex {
    /// Returns the track at a path of the queue; nil for an address, and for music that is not in the library.
    package func track(playing path: String) throws(DatabaseError) -> Track? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let sheet = SheetTrack(path)
        return try track(at: sheet?.sheet ?? path, part: sheet?.number ?? 0)
    }

    /// Returns the content of the music at a path of the queue; nil when it is not in the library.
    package func content(playing path: String) -> Int64? {
        guard path.utf8.first == UInt8(ascii: "/") else { return nil }
        let sheet = SheetTrack(path)
        do throws(DatabaseError) {
            return try content(of: sheet?.sheet ?? path, part: sheet?.number ?? 0)
        } catch {
            Log.warning("the library cannot be read: \(error.description)")
            return nil
        }
    }
}
