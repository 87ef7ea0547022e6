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
        guard let number = Int64(id) else { return nil }
        return try? index.read { (database) throws(DatabaseError) -> String? in
            var statement = try database.prepare("SELECT name, artist FROM track WHERE id = ?")
            try statement.bind([.integer(number)])
            guard try statement.step(), let name = statement.text(0) else { return nil }
            return statement.text(1).map { "\($0): \(name)" } ?? name
        }
    }
}
