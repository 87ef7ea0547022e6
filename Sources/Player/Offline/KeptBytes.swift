import Crypto
import Database
import Media
import Platform

/// The content of a kept product as a `ByteSource`: a read decrypts one chunk.
///
/// Thread: one at a time.
final class KeptBytes: ByteSource {
    let length: Int64?
    private let reader: SealedReader
    private let count: Int64
    private var chunk: (number: Int64, bytes: [UInt8])?

    /// - Throws: `.source(.medium)` for a file that cannot be opened; `.source(.integrity)` for one that is not the
    ///   item's, or whose key this device does not have.
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
            // Two chunks in memory are more than a player needs.
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

    /// Reads all of what is kept of a product. What is replaced or deleted meanwhile is not damage.
    /// - Returns: and the content that was read; nil when there is none, or the row has damaged values.
    static func verify(
        _ product: ServiceAddress, _ store: OfflineStore, _ cancellation: Cancellation
    ) -> (OfflineVerification, content: [UInt8]?) {
        var damaged: [UInt8]?
        while true {
            let stored = store.waitToRead { (rows) throws(DatabaseError) in
                (item: try rows.item(product), isThere: try rows.stored(product) != nil)
            }
            guard let stored else { return (.unlisted, nil) }
            guard let item = stored.item else { return (stored.isThere ? .damaged : .notKept, nil) }
            if item.content == damaged {
                guard store.isFolderOurs() == false else { return (.damaged, damaged) }
                return (.unreadable(reason: "\(store.folder.path) is not the folder of what is kept"), nil)
            }
            let result = verify(item, store, cancellation)
            guard result == .damaged else { return (result, item.content) }
            damaged = item.content
        }
    }

    private static func verify(
        _ item: OfflineItem, _ store: OfflineStore, _ cancellation: Cancellation
    ) -> OfflineVerification {
        let kept: KeptBytes
        do throws(MediaError) { kept = try KeptBytes(item, store) } catch {
            guard case .source(let reason) = error else { return .damaged }
            return verification(reason)
        }
        for number in 0..<(SealedLayout.chunks(of: item.count) ?? 0) {
            if cancellation.isCancelled { return .stopped }
            do throws(SealedFileError) { _ = try kept.reader.read(number) } catch {
                return verification(error.byteSourceError)
            }
        }
        return .whole
    }

    /// A file that may not be read now says nothing about what is in it.
    private static func verification(_ error: ByteSourceError) -> OfflineVerification {
        switch error {
        case .medium(let error) where !error.isMissingFile: .unreadable(reason: error.description)
        default: .damaged
        }
    }
}

extension SealedFileError {
    /// As a decoder sees it.
    var byteSourceError: ByteSourceError {
        switch self {
        // A sector that cannot be read: another download heals it.
        case .system(let error) where error.isOfMedium:
            .integrity(reason: "the medium cannot read a part of what was kept")
        case .system(let error): .medium(error)
        case .damaged: .integrity(reason: "a part of what was kept is damaged")
        }
    }
}
