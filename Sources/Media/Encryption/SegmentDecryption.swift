import Crypto

/// A segment of HLS that is encrypted as a whole (AES-128; RFC 8216, 4.3.2.4): AES in chained blocks, with padding by
/// PKCS #7 at its end. It can be read from any offset.
///
/// Thread: only the decoder thread.
public final class SegmentDecryption: ByteSource {
    private let source: any ByteSource
    private let key: SecretBytes
    private let vector: [UInt8]

    private static let blockSize: Int64 = 16
    /// The bytes of one read of the source, and one block more, which shows whether the segment continues.
    private static let largestRead: Int64 = 65_536

    /// - Parameters:
    ///   - key: 16 bytes.
    ///   - initializationVector: 16 bytes.
    public init(_ source: any ByteSource, key: [UInt8], initializationVector: [UInt8]) {
        self.source = source
        self.key = SecretBytes(copying: key)
        vector = initializationVector
    }

    /// The length with the padding. It is a hint.
    public var length: Int64? { source.length }

    public func whenReadable(_ wake: @escaping @Sendable () -> Void) { source.whenReadable(wake) }

    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        guard offset >= 0, offset <= AudioLimits.largestData, !buffer.isEmpty else { return .end }
        let start = offset & ~(Self.blockSize - 1)
        let first = Self.firstByte(toRead: offset)
        let wanted = min(Self.largestRead, Int64(buffer.count) + offset - start) + Self.blockSize
        let end = (start + wanted + Self.blockSize - 1) & ~(Self.blockSize - 1)
        var bytes = [UInt8](repeating: 0, count: Int(end - first))
        let answer = try fill(&bytes, at: first)
        let isWhole = answer == .bytes(bytes.count)
        guard isWhole || answer != .notYet else { return .notYet }
        if case .bytes(let count) = answer { bytes.removeLast(bytes.count - count) } else { bytes = [] }
        guard bytes.count % Int(Self.blockSize) == 0 else {
            throw .integrity(reason: "an encrypted segment that does not end with a whole block")
        }
        var chain = vector
        if start > 0, bytes.count >= Int(Self.blockSize) {
            chain = Array(bytes[..<Int(Self.blockSize)])
            bytes.removeFirst(Int(Self.blockSize))
        } else if start > 0 {
            return .end
        }
        guard !bytes.isEmpty else { return .end }
        do throws(CryptoError) {
            var cipher = try AESCBC(.decrypt, key: key, initializationVector: chain)
            bytes = try cipher.process(bytes)
        } catch {
            throw .integrity(reason: error.description)
        }
        if isWhole {
            // The last block may be the end.
            bytes.removeLast(Int(Self.blockSize))
        } else {
            let padding = Int(bytes[bytes.count - 1])
            guard 1...Int(Self.blockSize) ~= padding else {
                throw .integrity(reason: "an encrypted segment with a wrong end: the key may be wrong")
            }
            bytes.removeLast(padding)
        }
        let part = bytes.dropFirst(Int(offset - start)).prefix(buffer.count)
        buffer.copyBytes(from: part)
        return ByteRead(count: part.count)
    }

    /// The first byte of the source that is needed to read from `offset` on: the block before is the vector of the
    /// first one.
    public static func firstByte(toRead offset: Int64) -> Int64 { max(0, (offset & ~(blockSize - 1)) - blockSize) }

    /// - Returns: all of `bytes`, or fewer where the source ends; `.end` when there are none.
    private func fill(_ bytes: inout [UInt8], at offset: Int64) throws(ByteSourceError) -> ByteRead {
        var filled = 0
        while filled < bytes.count {
            let start = filled
            let answer = try bytes.withUnsafeMutableBufferPointer { (all) throws(ByteSourceError) -> ByteRead in
                try source.read(
                    into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(all)[start...]),
                    at: offset + Int64(start))
            }
            switch answer {
            case .bytes(let count): filled += count
            case .end: return ByteRead(count: filled)
            case .notYet: return .notYet
            }
        }
        return .bytes(filled)
    }
}
