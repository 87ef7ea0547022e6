/// Reads a sealed file chunk by chunk. Any thread, one at a time.
public final class SealedReader {
    private let file: SealedFile
    private let chunks: Int64
    private let count: Int64
    private let isComplete: Bool

    /// - Parameters:
    ///   - identity: the identity of the item, 16 bytes.
    ///   - count: the length of the content on the medium, in bytes.
    ///   - isComplete: whether that is the whole content. Otherwise it consists of full chunks.
    public init(
        _ path: String, _ identity: [UInt8], count: Int64, isComplete: Bool, _ key: borrowing SecretBytes
    ) throws(SealedFileError) {
        file = try SealedFile(opening: path, identity, key)
        self.count = count
        self.isComplete = isComplete
        chunks = isComplete ? SealedLayout.chunks(of: count) ?? 0 : count / Int64(SealedLayout.chunkCount)
    }

    /// Returns the content of one chunk.
    /// - Throws: when the chunk is damaged, or the file was cut, so that its last chunk is not at the expected offset.
    public func read(_ chunk: Int64) throws(SealedFileError) -> [UInt8] {
        guard (0..<chunks).contains(chunk) else { throw .damaged(.notAuthentic) }
        let isLast = isComplete && chunk == chunks - 1
        let size = isLast ? Int(count - chunk * Int64(SealedLayout.chunkCount)) : SealedLayout.chunkCount
        return try file.read(chunk, count: size, isLast: isLast)
    }
}

/// Writes a sealed file that grows. Any thread, one at a time.
public final class SealedWriter {
    private let file: SealedFile
    /// The number of full chunks in the file.
    private var chunks: Int64 = 0
    /// The chunk that grows. A full chunk waits until it is known whether another chunk follows.
    private var pending = [UInt8](repeating: 0, count: SealedLayout.chunkCount)
    private var pendingCount = 0
    /// The chunk that was read most recently.
    private var opened: (number: Int64, bytes: [UInt8])?

    /// Creates a file.
    public init(creating path: String, _ identity: [UInt8], _ key: borrowing SecretBytes) throws(SealedFileError) {
        file = try SealedFile(creating: path, identity, key)
    }

    /// Continues a file with `count` bytes in full chunks. Removes all bytes after them: they were torn.
    public init(
        continuing path: String, _ identity: [UInt8], count: Int64, _ key: borrowing SecretBytes
    ) throws(SealedFileError) {
        let file = try SealedFile(opening: path, identity, key, toWrite: true)
        let chunks = count / Int64(SealedLayout.chunkCount)
        guard try file.hasFullChunks(chunks) else { throw .damaged(.notAuthentic) }
        try file.truncate(toChunks: chunks)
        self.file = file
        self.chunks = chunks
    }

    /// The length of the content so far, in bytes.
    public var count: Int64 { chunks * Int64(SealedLayout.chunkCount) + Int64(pendingCount) }

    public func append(_ bytes: [UInt8]) throws(SealedFileError) {
        var done = 0
        while done < bytes.count {
            if pendingCount == SealedLayout.chunkCount {
                try writePending(isLast: false)
                chunks += 1
                pendingCount = 0
            }
            let part = min(bytes.count - done, SealedLayout.chunkCount - pendingCount)
            // A slice that is appended to an array is copied byte by byte in Embedded Swift.
            let place = pendingCount
            pending.withUnsafeMutableBytes { pending in
                bytes.withUnsafeBytes { all in
                    UnsafeMutableRawBufferPointer(rebasing: pending[place...]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: all[done..<(done + part)]))
                }
            }
            pendingCount += part
            done += part
        }
    }

    /// Reads appended content.
    /// - Returns: how many bytes were read, all from one chunk; 0 at `count`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SealedFileError) -> Int {
        guard offset >= 0, offset < count else { return 0 }
        let (number, place) = SealedLayout.chunk(at: offset)
        if number == chunks { return Self.copy(pending, place..<pendingCount, into: buffer) }
        if opened?.number != number {
            opened = nil
            opened = (number, try file.read(number, count: SealedLayout.chunkCount, isLast: false))
        }
        guard let opened else { return 0 }
        return Self.copy(opened.bytes, place..<SealedLayout.chunkCount, into: buffer)
    }

    private static func copy(_ bytes: [UInt8], _ range: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let part = range.prefix(buffer.count)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[part])) }
        return part.count
    }

    /// Completes the content. When this returns, the content and the file's name are on the medium.
    public func finish() throws(SealedFileError) {
        try writePending(isLast: true)
        try file.synchronize()
    }

    /// Interrupts the content, which another writer can continue later.
    /// - Returns: how many bytes are on the medium.
    public func interrupt() throws(SealedFileError) -> Int64 {
        try file.synchronize()
        return chunks * Int64(SealedLayout.chunkCount)
    }

    private func writePending(isLast: Bool) throws(SealedFileError) {
        let (count, chunk) = (pendingCount, chunks)
        try pending.withUnsafeBufferPointer { (bytes) throws(SealedFileError) in
            try file.write(
                UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[..<count])), as: chunk, isLast: isLast)
        }
    }
}
