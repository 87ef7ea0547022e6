import Crypto
import Media
import Platform

/// A picture from the network, in memory.
///
/// Thread: any. `@unchecked Sendable` is safe because nothing changes after the init.
public final class FetchedPicture: @unchecked Sendable {
    /// The largest picture in bytes, as for pictures of music files that are joined in memory.
    public static let mostBytes = 8 << 20

    private let answer: CoverAnswer
    public let kind: PictureKind
    /// Names the picture by its bytes: half of their SHA-256.
    public let digest: [UInt8]

    private static let step = 64 << 10

    /// - Parameter answer: a complete answer.
    /// - Returns: nil for bytes that do not begin as a JPEG, PNG or WebP.
    init?(_ answer: CoverAnswer) throws(CryptoError) {
        guard let kind = PictureKind(answer.read(PictureKind.beginning, at: 0)), kind != .jpegXL else { return nil }
        self.answer = answer
        self.kind = kind
        var hash = try SHA256()
        var offset = 0
        while offset < answer.length {
            let bytes = answer.read(Self.step, at: offset)
            guard !bytes.isEmpty else { break }
            try hash.update(bytes)
            offset += bytes.count
        }
        digest = Array(try hash.finish()[..<16])
    }

    /// In bytes.
    public var length: Int { answer.length }

    /// The descriptor of a file with these bytes alone.
    public var descriptor: Int32 { answer.descriptor }

    /// Returns up to `count` bytes from an offset on; none at the end.
    public func read(_ count: Int, at offset: Int) -> [UInt8] { answer.read(count, at: offset) }
}
