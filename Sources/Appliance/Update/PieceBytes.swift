import CLinux
import Crypto
import Platform

/// Divides a piece into runs of bytes that are read and written at once, from its beginning to its end.
struct Chunks: Sequence, IteratorProtocol {
    /// The most bytes of a run.
    private static let size: Int64 = 1 << 18

    private var position: Int64
    private let end: Int64

    /// - Parameter start: the first byte in the piece.
    init(of piece: UpdateManifest.Piece, from start: Int64 = 0) {
        position = start
        end = piece.size
    }

    mutating func next() -> Range<Int64>? {
        guard position < end else { return nil }
        let range = position..<Swift.min(position + Self.size, end)
        position = range.upperBound
        return range
    }
}

/// The SHA-256 of a piece. If memory is missing, it fails as for a damaged image, and nothing is installed.
struct PieceHash: ~Copyable {
    /// The hash; nil once it is finished.
    private var hash: SHA256?

    init() throws(UpdateError) {
        do throws(CryptoError) { hash = try SHA256() } catch { throw Self.failure }
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    mutating func add(_ bytes: [UInt8]) throws(UpdateError) {
        do throws(CryptoError) { try hash?.update(bytes) } catch { throw Self.failure }
    }

    /// - Returns: 32 bytes; empty when called again.
    mutating func finish() throws(UpdateError) -> [UInt8] {
        guard let hash = hash.take() else { return [] }
        do throws(CryptoError) { return try hash.finish() } catch { throw Self.failure }
    }

    private static var failure: UpdateError { .unreadable(SystemError(code: ENOMEM, operation: "hash")) }
}
