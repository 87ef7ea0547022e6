import Database
import Library
import Platform

/// The titles of an origin's tracks, for lists of plays.
public struct TrackTitles {
    private let index: MusicIndex

    /// - Throws: when the index cannot be read.
    public init(stateFolder: String) throws(ContentOrigin.Failure) {
        do throws(DatabaseError) { index = try MusicIndex(in: stateFolder) } catch {
            throw ContentOrigin.Failure(description: "\(stateFolder)/index.db: \(error.description)")
        }
    }

    /// Returns `Artist: Title` of a track, also of one that is gone; nil when it is not known.
    public subscript(_ id: String) -> String? {
        Int64(id).flatMap { try? index.title(ofTrack: $0) }
    }
}
