import Fetching
import Media

/// Counts consecutive lost segments of live content. Many in a row have a common cause: their addresses may have
/// expired, and a new session gets others. Segments lost in an outage do not count.
struct LiveLosses: Equatable, Sendable {
    private static let most = 5

    private var count = 0

    /// - Returns: the reason to begin a new session; nil while the next segment is worth trying.
    mutating func lost(after error: MediaError) -> MediaError? {
        guard !error.isTemporary else { return nil }
        count += 1
        guard count >= Self.most else { return nil }
        count = 0
        return error.isWorthRestarting ? error : .source(.integrity(reason: "live stream: its segments are no audio"))
    }

    /// Counts decoded audio.
    mutating func heard() { count = 0 }
}
