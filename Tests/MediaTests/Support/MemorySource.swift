import Platform

@testable import Media

/// Bytes in memory that count what is taken from them, and fail or give little on demand.
final class MemorySource: ByteSource {
    let bytes: [UInt8]
    private let knowsLength: Bool
    /// The most that one read gives.
    var largestRead = Int.max
    /// Reads that touch a byte from here on fail.
    var failsFrom = Int64.max
    private(set) var bytesRead = 0
    private(set) var readCount = 0
    private(set) var largestRequest = 0

    init(_ bytes: [UInt8], knowsLength: Bool = true) {
        self.bytes = bytes
        self.knowsLength = knowsLength
    }

    static let failure = ByteSourceError.system(SystemError(code: 5, operation: "read"))

    var length: Int64? { knowsLength ? Int64(bytes.count) : nil }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ByteSourceError) -> Int {
        readCount += 1
        largestRequest = max(largestRequest, buffer.count)
        precondition(offset >= 0)
        guard offset < failsFrom else { throw Self.failure }
        guard offset < bytes.count else { return 0 }
        let start = Int(offset)
        let end = min(bytes.count, start + min(buffer.count, largestRead), Int(min(failsFrom, Int64(Int.max))))
        buffer.copyBytes(from: bytes[start..<end])
        bytesRead += end - start
        return end - start
    }
}
