import Database
import Playback
import Streaming

/// Follows downloads, to record them. `Player` has the observer that records sessions.
///
/// Thread: any.
package protocol DownloadObserver: AnyObject, Sendable {
    /// An attempt to download a product begins.
    func begins(_ product: ServiceAddress) -> any DownloadRecord
}

/// The record of one attempt to download a product.
///
///     record.fetched(fetch)
///     record.opened(info)
///     record.ended(.complete)
///     try store.waitToWrite { rows in
///         try record.store(in: rows.database)
///         …
///     }
///     record.stored()
///
/// Thread: the download's.
package protocol DownloadRecord: AnyObject, Sendable {
    /// The id of the attempt in the requests to the service.
    var id: String { get }
    /// Notes the fetch of the playbackinfo or of a license.
    func fetched(_ fetch: ServiceFetch)
    func opened(_ info: PlaybackInfo)
    /// Notes the end. A later end replaces an earlier one that was not stored.
    func ended(_ end: ServiceFetch.End)
    /// Whether `store` has to be called, in a transaction.
    var needsTransaction: Bool { get }
    /// Stores the record, in the transaction that makes the product an offline copy, or in one of its own.
    func store(in database: Database) throws(DatabaseError)
    /// Notes that the record and the state that it describes are on the medium.
    func stored()
}
