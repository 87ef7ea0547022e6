import Crypto
import Database
import Media
import Platform
import Playback

/// The content of an offline copy as a `ByteSource`: a read decrypts one chunk.
///
/// Thread: one at a time.
final class OfflineCopyBytes: ByteSource {
    let length: Int64?
    private let reader: SealedReader
    private let count: Int64
    private var chunk: (number: Int64, bytes: [UInt8])?

    /// - Throws: `.source(.medium)` for a file that cannot be opened; `.source(.integrity)` for a file that does not
    ///   belong to the item, or whose key does not open on this device.
    init(_ item: OfflineItem, _ store: OfflineStore) throws(MediaError) {
        guard let key = store.key(item.sealedKey, of: item.content) else {
            throw .source(.integrity(reason: "this device does not have its key any more"))
        }
        do throws(SealedFileError) {
            reader = try SealedReader(
                store.path(of: item.content), item.content, count: item.count, isComplete: true, key)
        } catch {
            throw .source(error.byteSourceError)
        }
        count = item.count
        length = item.count
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset >= 0, offset < count else { return .end }
        let (number, place) = SealedLayout.chunk(at: offset)
        if chunk?.number != number {
            // Release the old chunk first: the player needs only one in memory.
            chunk = nil
            do throws(SealedFileError) { chunk = (number, try reader.read(number)) } catch {
                throw error.byteSourceError
            }
        }
        guard let bytes = chunk?.bytes, place < bytes.count else { return .end }
        let size = min(buffer.count, bytes.count - place)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<(place + size)])) }
        return ByteRead(count: size)
    }

    /// Reads the whole offline copy of a product. A copy that is replaced or deleted meanwhile is not damaged.
    /// - Returns: the result, and the content that was read; nil when there is none, or the row has damaged values.
    static func verify(
        _ product: ServiceAddress, _ store: OfflineStore, _ cancellation: Cancellation
    ) -> (OfflineVerification, content: [UInt8]?) {
        var damaged: [UInt8]?
        while true {
            let stored = store.waitToRead { (rows) throws(DatabaseError) in
                (item: try rows.item(product), isThere: try rows.stored(product) != nil)
            }
            guard let stored else { return (.unlisted, nil) }
            guard let item = stored.item else { return (stored.isThere ? .damaged : .noCopy, nil) }
            if item.content == damaged {
                guard store.isFolderOurs() == false else { return (.damaged, damaged) }
                return (.unreadable(reason: "\(store.folder.path) is not the storage folder"), nil)
            }
            let result = verify(item, store, cancellation)
            guard result == .damaged else { return (result, item.content) }
            damaged = item.content
        }
    }

    private static func verify(
        _ item: OfflineItem, _ store: OfflineStore, _ cancellation: Cancellation
    ) -> OfflineVerification {
        let copy: OfflineCopyBytes
        do throws(MediaError) { copy = try OfflineCopyBytes(item, store) } catch {
            guard case .source(let reason) = error else { return .damaged }
            return verification(reason)
        }
        for number in 0..<(SealedLayout.chunks(of: item.count) ?? 0) {
            if cancellation.isCancelled { return .stopped }
            do throws(SealedFileError) { _ = try copy.reader.read(number) } catch {
                return verification(error.byteSourceError)
            }
        }
        return .whole
    }

    /// Distinguishes a read error from damage: a file that cannot be read now may be whole.
    private static func verification(_ error: ByteSourceError) -> OfflineVerification {
        switch error {
        case .medium(let error) where !error.isMissingFile: .unreadable(reason: error.description)
        default: .damaged
        }
    }
}

extension SealedFileError {
    /// The error that a decoder gets.
    var byteSourceError: ByteSourceError {
        switch self {
        // A sector that cannot be read: another download heals it.
        case .system(let error) where error.isOfMedium:
            .integrity(reason: "the medium cannot read a part of an offline copy")
        case .system(let error): .medium(error)
        case .damaged: .integrity(reason: "a part of an offline copy is damaged")
        }
    }
}
