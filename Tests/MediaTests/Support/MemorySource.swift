import Platform

@testable import Media

/// Bytes in memory. They count reads, and fail or return few bytes on demand.
final class MemorySource: ByteSource {
    let bytes: [UInt8]
    private let knowsLength: Bool
    /// The most that one read gives.
    var largestRead = Int.max
    /// Reads that touch a byte from here on fail.
    var failsFrom = Int64.max
    /// Every read of this number is answered with "not yet"; 0: none.
    var notYetEvery = 0
    /// The number of bytes that are there; those after them are not there yet.
    var available = Int64.max
    private(set) var bytesRead = 0
    private(set) var readCount = 0
    private(set) var notYetCount = 0
    private(set) var largestRequest = 0

    init(_ bytes: [UInt8], knowsLength: Bool = true) {
        self.bytes = bytes
        self.knowsLength = knowsLength
    }

    static let failure = ByteSourceError.medium(SystemError(code: 5, operation: "read"))

    var length: Int64? { knowsLength ? Int64(bytes.count) : nil }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        readCount += 1
        largestRequest = max(largestRequest, buffer.count)
        precondition(offset >= 0)
        if notYetEvery > 0 && readCount % notYetEvery == 0 || offset >= available {
            notYetCount += 1
            return .notYet
        }
        guard offset < failsFrom else { throw Self.failure }
        guard offset < bytes.count else { return .end }
        let start = Int(offset)
        let limit = Int(min(failsFrom, available, Int64(Int.max)))
        let end = min(bytes.count, start + min(buffer.count, largestRead), limit)
        buffer.copyBytes(from: bytes[start..<end])
        bytesRead += end - start
        return .bytes(end - start)
    }
}

/// Some bytes at the front of a long file of zeros.
final class SparseSource: ByteSource {
    private let head: [UInt8]
    let length: Int64?
    private(set) var readCount = 0

    init(_ head: [UInt8], length: Int64) {
        self.head = head
        self.length = length
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> ByteRead {
        readCount += 1
        let count = Int(min(Int64(buffer.count), max(0, (length ?? 0) - offset)))
        for index in 0..<count {
            let place = offset + Int64(index)
            buffer[index] = place < Int64(head.count) ? head[Int(place)] : 0
        }
        return ByteRead(count: count)
    }
}
