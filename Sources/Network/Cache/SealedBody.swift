import Crypto

/// The sealed file of a body, to be read chunk by chunk. Thread: storage.
final class SealedBodyReader {
    private let file: SealedFile
    private let chunks: Int64
    private let count: Int64
    private let isComplete: Bool

    /// - Parameter response: what of it is on the medium.
    init(_ path: String, _ response: CachedResponse, _ key: borrowing SecretBytes) throws(SealedBodyError) {
        file = try SealedFile(opening: path, response.body, key)
        count = response.count
        isComplete = response.isComplete
        chunks =
            isComplete
            ? SealedLayout.chunks(of: response.count) ?? 0 : response.count / Int64(SealedLayout.chunkCount)
    }

    /// The content of one chunk.
    /// - Throws: also when the file has been cut: the last chunk is not where it should be.
    func read(_ chunk: Int64) throws(SealedBodyError) -> [UInt8] {
        guard (0..<chunks).contains(chunk) else { throw .damaged(.notAuthentic) }
        let isLast = isComplete && chunk == chunks - 1
        let size = isLast ? Int(count - chunk * Int64(SealedLayout.chunkCount)) : SealedLayout.chunkCount
        return try file.read(chunk, count: size, isLast: isLast)
    }
}

/// The sealed file of a body that grows. Thread: storage.
final class SealedBodyWriter {
    private let file: SealedFile
    /// Full chunks that are written.
    private var chunks: Int64 = 0
    /// A full one waits until it is known whether another one follows.
    private var pending: [UInt8] = []

    /// A new file.
    init(creating path: String, _ identity: [UInt8], _ key: borrowing SecretBytes) throws(SealedBodyError) {
        file = try SealedFile(creating: path, identity, key)
    }

    /// A file that has `count` bytes in full chunks. What is behind them was torn.
    init(
        continuing path: String, _ identity: [UInt8], count: Int64, _ key: borrowing SecretBytes
    ) throws(SealedBodyError) {
        let file = try SealedFile(opening: path, identity, key, toWrite: true)
        let chunks = count / Int64(SealedLayout.chunkCount)
        guard try file.hasFullChunks(chunks) else { throw .damaged(.notAuthentic) }
        self.file = file
        self.chunks = chunks
    }

    /// Of the body so far.
    var count: Int64 { chunks * Int64(SealedLayout.chunkCount) + Int64(pending.count) }

    func append(_ bytes: [UInt8]) throws(SealedBodyError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if pending.count == SealedLayout.chunkCount {
                try writePending(isLast: false)
                chunks += 1
                pending.removeAll(keepingCapacity: true)
            }
            let part = rest.prefix(SealedLayout.chunkCount - pending.count)
            pending += part
            rest = rest.dropFirst(part.count)
        }
    }

    /// The body is complete. When this returns, it is on the medium, and so is the file's name.
    func finish() throws(SealedBodyError) {
        try writePending(isLast: true)
        try file.synchronize()
    }

    /// The body goes on another time.
    /// - Returns: how many bytes are on the medium.
    func interrupt() throws(SealedBodyError) -> Int64 {
        try file.synchronize()
        return chunks * Int64(SealedLayout.chunkCount)
    }

    private func writePending(isLast: Bool) throws(SealedBodyError) {
        try file.write(pending, as: chunks, isLast: isLast)
    }
}
