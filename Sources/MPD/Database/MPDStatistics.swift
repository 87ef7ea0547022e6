import Appliance
import Database
import Library

/// The numbers of `stats` about the library.
struct MPDStatistics: Equatable, Sendable {
    var artists: Int64 = 0
    var albums: Int64 = 0
    var songs: Int64 = 0
    /// The duration of all songs, in seconds.
    var playtime: Int64 = 0
    /// When the index was written last, in seconds since 1970.
    var updated: Int64 = 0
}

extension MPDDatabase {
    func statistics() throws(MPDFailure) -> MPDStatistics {
        var statistics = MPDStatistics()
        do throws(DatabaseError) {
            statistics.artists = try index.number(ListQuery.names.count, [.integer(NameKind.artist.rawValue)])
            statistics.albums = try index.number("SELECT count(DISTINCT title) FROM album WHERE track_count > 0")
            statistics.songs = try index.number(ListQuery.tracks.count)
            statistics.playtime = try index.number(
                "SELECT sum(frames * 1000 / sample_rate) / 1000 FROM track WHERE is_present = 1 AND sample_rate > 0")
        } catch {
            throw MPDFailure(.system, "the library cannot be read: \(error.description)")
        }
        // Changes are in the log first.
        statistics.updated =
            [index.path, index.path + "-wal"].compactMap { FileStamp(of: $0)?.modifiedSeconds }.max() ?? 0
        return statistics
    }
}
