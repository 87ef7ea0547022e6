import Network

@testable import Fetching
@testable import Player

/// Records the bytes that a transfer delivers.
// @unchecked: used on the test's thread alone.
package final class RecordedResource: ResourceReceiver, @unchecked Sendable {
    package var bytes: [UInt8] = []
    package var length: Int64?
    package var beginnings = 0
    /// The reasons of its ends, one for each end.
    package var ends: [ResourceFailure?] = []
    /// Whether there is room for more bytes.
    package var takesMore = true

    package init() {}

    package func began(_ head: ResponseHead, length: Int64?) {
        self.length = length
        beginnings += 1
    }
    package func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        guard takesMore else { return .enough }
        self.bytes.append(contentsOf: bytes)
        return .more
    }
    package func ended(_ failure: ResourceFailure?) { ends.append(failure) }
}
