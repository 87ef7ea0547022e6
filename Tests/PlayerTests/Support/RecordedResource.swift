import Network

@testable import Player

/// Records the bytes that a transfer delivers.
// @unchecked: used on the test's thread alone.
final class RecordedResource: ResourceReceiver, @unchecked Sendable {
    var bytes: [UInt8] = []
    var length: Int64?
    var beginnings = 0
    /// The reasons of its ends, one for each end.
    var ends: [ResourceFailure?] = []

    func began(_ head: ResponseHead, length: Int64?) {
        self.length = length
        beginnings += 1
    }
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        self.bytes.append(contentsOf: bytes)
        return .more
    }
    func ended(_ failure: ResourceFailure?) { ends.append(failure) }
}
