import Network
import Platform

/// An answer in memory.
///
/// Thread: the network's until it is complete, then the one that waits for `arrival`.
/// `@unchecked Sendable` is safe because `arrival` stands between the two.
final class CoverAnswer: TransferSink, @unchecked Sendable {
    let arrival: WakeUp
    private(set) var status = 0
    private(set) var error: TransferError?
    /// In bytes.
    private(set) var length = 0
    private let file: MemoryFile
    private var isFull = false

    init() throws(SystemError) {
        arrival = try WakeUp()
        file = try MemoryFile("cover")
    }

    // MARK: From the network

    func began(_ head: ResponseHead) { status = head.status }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        do throws(SystemError) {
            try file.write(Array(bytes), at: Int64(length))
            length += bytes.count
        } catch {
            isFull = true
        }
        return .more
    }

    func ended(_ error: TransferError?) {
        self.error = error ?? (isFull ? .library(code: 0, reason: "there is no memory for it") : nil)
        arrival.signal()
    }

    // MARK: The bytes

    var descriptor: Int32 { file.descriptor }

    /// Returns up to `count` bytes from an offset on; none at the end.
    func read(_ count: Int, at offset: Int) -> [UInt8] { file.read(max(0, min(count, length - offset)), at: offset) }
}
