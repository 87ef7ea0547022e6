import Database
import PCM

extension MusicIndex {
    /// Stores the measured loudness of tracks, in one transaction. Tracks whose file has changed meanwhile are left
    /// out.
    /// - Parameter results: the results by the numbers of the tracks. A track without a result counts as measured and
    ///   has no loudness.
    package func storeLoudness(_ results: [Int64: ReplayGain], of tracks: [Track]) throws(DatabaseError) {
        try write { (database) throws(DatabaseError) in
            for track in tracks {
                let gain = results[track.id]
                try database.execute(
                    """
                    UPDATE track SET is_measured = 1, track_gain = ?, track_peak = ?, album_gain = ?, album_peak = ?
                    WHERE id = ? AND size = ? AND modified = ?
                    """,
                    DatabaseValue(gain?.trackGain), DatabaseValue(gain?.trackPeak), DatabaseValue(gain?.albumGain),
                    DatabaseValue(gain?.albumPeak), .integer(track.id), .integer(track.stamp.size),
                    .integer(track.stamp.modified))
            }
        }
    }
}
