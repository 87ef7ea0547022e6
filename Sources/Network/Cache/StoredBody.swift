import Crypto
import Platform

/// The body of a response, as far as it is on the medium, as it is read.
/// `@unchecked Sendable` is safe because the storage thread alone uses what changes.
public final class StoredBody: @unchecked Sendable {
    private let response: CachedResponse
    private let store: CacheStore
    /// Storage thread.
    private var reader: SealedReader?

    init(_ response: CachedResponse, of store: CacheStore) {
        self.response = response
        self.store = store
    }

    /// Reads one chunk, of `SealedLayout.chunkCount` bytes except for the last one. A body that is not what was written
    /// is removed from the cache.
    /// - Parameter answer: nil when it cannot be read. On the storage thread.
    public func read(_ chunk: Int64, _ answer: @escaping @Sendable ([UInt8]?) -> Void) {
        store.index.perform { [self] in
            do throws(SealedFileError) {
                let reader = if let reader { reader } else { try store.reader(of: response) }
                self.reader = reader
                answer(try reader.read(chunk))
            } catch {
                Log.info("a stored response is damaged and is removed from the cache")
                store.purge(response)
                answer(nil)
            }
        }
    }
}
