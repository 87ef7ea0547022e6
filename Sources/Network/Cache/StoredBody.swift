import Crypto
import Platform

/// Reads the stored part of a response's body.
/// `@unchecked Sendable` is safe because only the storage thread uses the mutable state.
public final class StoredBody: @unchecked Sendable {
    private let response: CachedResponse
    private let store: CacheStore
    /// Storage thread.
    private var reader: SealedReader?

    init(_ response: CachedResponse, of store: CacheStore) {
        self.response = response
        self.store = store
    }

    /// Reads one chunk, of `SealedLayout.chunkCount` bytes except for the last one. A damaged body is removed from the
    /// cache.
    /// - Parameter answer: gets nil when the chunk cannot be read. Called on the storage thread.
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
