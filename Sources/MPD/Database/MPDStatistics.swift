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
    /// The time at which the index was last written, in seconds since 1970.
    var updated: Int64 = 0
}

extension MPDDatabase {
    func statistics() throws(MPDFailure) -> MPDStatistics {
        var statistics = MPDStatistics()
        do throws(DatabaseError) {
            statistics.artists = try index.count(.names(.artist))
            statistics.albums = try index.count(.albumTitles)
            statistics.songs = try index.count(.tracks)
            statistics.playtime = try index.count(.seconds)
        } catch {
            throw MPDFailure(.system, "the library cannot be read: \(error.description)")
        }
        // Changes are written to the log first, so its time counts.
        statistics.updated =
            [index.path, index.path + "-wal"].compactMap { FileStamp(of: $0)?.modifiedSeconds }.max() ?? 0
        return statistics
    }
}
