import Platform

/// Seals and opens the chunks of one file with AES-256-GCM, in memory; `SealedLayout` gives their offsets in the file.
///
/// Each file has a key of its own: HKDF-SHA-256 of the owner's key, salted with the random bytes of the file's header,
/// for the identity of the item. So a chunk opens only in its file and for its item. Its number, and whether it is the
/// last one, are authenticated with it. So chunks cannot change places, and the file cannot be cut at a chunk.
///
/// Each sealing takes a new random nonce. A chunk that was torn by a power cut can therefore be written again, whatever
/// part of it had reached the medium. With 2³² chunks in one file (256 TiB), the risk of an equal nonce stays below
/// 2⁻³² (NIST SP 800-38D, 8.3).
///
/// The content of a chunk must not change as long as the file exists, because an older version of the same chunk would
/// be authentic. Other content needs another file, with another header.
///
/// Any thread, one at a time.
public struct SealedChunks: ~Copyable {
    /// The length of an item's identity in bytes.
    public static let identityCount = 16
    private static let mark = Array("TSC1".utf8)
    private static let purpose = Array("tonearm sealed chunks 1".utf8)

    /// The file's first bytes.
    public let header: [UInt8]
    private let identity: [UInt8]
    private var cipher: AESGCM

    /// Makes the header and the key of a new file.
    /// - Parameters:
    ///   - key: the key of the owner, 32 bytes.
    ///   - identity: the identity of the item, 16 bytes.
    /// - Throws: `wrongLength` or `failed`.
    public init(
        newFor identity: [UInt8], key: borrowing SecretBytes, random: some RandomSource = SystemRandomSource()
    ) throws(CryptoError) {
        var salt = [UInt8](repeating: 0, count: SealedLayout.headerCount - Self.mark.count)
        salt.withUnsafeMutableBytes { random.fill($0) }
        try self.init(header: Self.mark + salt, identity, key)
    }

    /// Derives the key of an existing file from its header.
    /// - Throws: `notAuthentic` when `header` is not such a header; `wrongLength` or `failed`.
    public init(opening header: [UInt8], identity: [UInt8], key: borrowing SecretBytes) throws(CryptoError) {
        guard header.count == SealedLayout.headerCount, header.starts(with: Self.mark) else { throw .notAuthentic }
        try self.init(header: header, identity, key)
    }

    private init(header: [UInt8], _ identity: [UInt8], _ key: borrowing SecretBytes) throws(CryptoError) {
        guard key.count == 32 else { throw .wrongLength(.key, bytes: key.count) }
        guard identity.count == Self.identityCount else { throw .wrongLength(.message, bytes: identity.count) }
        let fileKey = try HKDFSHA256.deriveKey(
            from: key, salt: Array(header.dropFirst(Self.mark.count)), info: Self.purpose + identity, count: 32)
        let cipher = try AESGCM(key: fileKey)
        self.header = header
        self.identity = identity
        self.cipher = cipher
    }

    // Without a deinit, Embedded Swift destroys the value in the module that uses it, where its members are not
    // visible.
    deinit {}

    /// Seals one chunk.
    /// - Parameters:
    ///   - plain: the whole content of the chunk: 65,536 bytes, or fewer for the last one.
    ///   - chunk: its number, from 0.
    /// - Returns: the bytes to write at `SealedLayout.offset(ofChunk:)`.
    /// - Throws: `wrongLength(.message)` for another number of bytes, or `failed`.
    public mutating func seal(
        _ plain: UnsafeRawBufferPointer, chunk: Int64, isLast: Bool, random: some RandomSource = SystemRandomSource()
    ) throws(CryptoError) -> [UInt8] {
        guard plain.count == SealedLayout.chunkCount || isLast && plain.count < SealedLayout.chunkCount else {
            throw .wrongLength(.message, bytes: plain.count)
        }
        var sealed = [UInt8](repeating: 0, count: plain.count + SealedLayout.overhead)
        let data = additionalData(chunk, isLast)
        try sealed.withMutableRawBytes { (all) throws(CryptoError) in
            let (nonce, rest) = all.split(at: AESGCM.nonceCount)
            let (body, tag) = rest.split(at: plain.count)
            random.fill(nonce)
            body.copyMemory(from: plain)
            try data.withRawBytes { (data) throws(CryptoError) in
                try cipher.seal(inPlace: body, nonce: UnsafeRawBufferPointer(nonce), authenticating: data, tag: tag)
            }
        }
        return sealed
    }

    /// Replaces the sealed bytes of one chunk by its content.
    /// - Parameters:
    ///   - sealed: all bytes of the chunk in the file; its content when this returns.
    ///   - isLast: whether the file ends with this chunk.
    /// - Throws: `notAuthentic` when it was torn, changed, moved or cut, or belongs to another file or item; `failed`.
    public mutating func open(inPlace sealed: inout [UInt8], chunk: Int64, isLast: Bool) throws(CryptoError) {
        let count = sealed.count - SealedLayout.overhead
        guard count == SealedLayout.chunkCount || isLast && (0..<SealedLayout.chunkCount).contains(count) else {
            throw .notAuthentic
        }
        let data = additionalData(chunk, isLast)
        try sealed.withMutableRawBytes { (all) throws(CryptoError) in
            let (nonce, rest) = all.split(at: AESGCM.nonceCount)
            let (body, tag) = rest.split(at: count)
            try data.withRawBytes { (data) throws(CryptoError) in
                try cipher.open(
                    inPlace: body, nonce: UnsafeRawBufferPointer(nonce), authenticating: data,
                    tag: UnsafeRawBufferPointer(tag))
            }
            all.copyMemory(from: UnsafeRawBufferPointer(body))
        }
        sealed.removeLast(SealedLayout.overhead)
    }

    /// Returns the content of one chunk; see `open(inPlace:chunk:isLast:)`.
    public mutating func open(_ sealed: [UInt8], chunk: Int64, isLast: Bool) throws(CryptoError) -> [UInt8] {
        var bytes = sealed
        try open(inPlace: &bytes, chunk: chunk, isLast: isLast)
        return bytes
    }

    /// Seals one chunk; see `seal(_:chunk:isLast:random:)`.
    public mutating func seal(_ plain: [UInt8], chunk: Int64, isLast: Bool) throws(CryptoError) -> [UInt8] {
        try plain.withRawBytes { (bytes) throws(CryptoError) in try seal(bytes, chunk: chunk, isLast: isLast) }
    }

    /// Returns the identity, the number (64 bits, most significant byte first), and whether the chunk is the last one.
    private func additionalData(_ chunk: Int64, _ isLast: Bool) -> [UInt8] {
        let number = (0..<8).reversed().map { UInt8(truncatingIfNeeded: chunk >> Int64($0 * 8)) }
        return identity + number + [isLast ? 1 : 0]
    }
}
