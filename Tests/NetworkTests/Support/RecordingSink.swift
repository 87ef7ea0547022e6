import Network
import Platform
import TestSupport
import Testing

/// Records a transfer for a test, which waits for the events that it needs.
// @unchecked: `condition` guards the mutable state.
final class RecordingSink: TransferSink, @unchecked Sendable {
    private let condition = Condition()
    /// How many bytes it takes before it has enough; nil: no limit.
    private var room: Int?
    private var head: ResponseHead?
    private var bytes: [UInt8] = []
    private var refusals = 0
    private var ends: [TransferError?] = []
    /// Called on the network thread.
    private let onBytes: (@Sendable () -> Void)?

    init(room: Int? = nil, onBytes: (@Sendable () -> Void)? = nil) {
        self.room = room
        self.onBytes = onBytes
    }

    func began(_ head: ResponseHead) { condition.update { self.head = head } }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        onBytes?()
        return condition.update {
            if let room, self.bytes.count + bytes.count > room {
                refusals += 1
                return .enough
            }
            self.bytes.append(contentsOf: bytes)
            return .more
        }
    }

    func ended(_ error: TransferError?) { condition.update { ends.append(error) } }

    // MARK: For the test

    func setRoom(_ count: Int?) { condition.update { room = count } }

    private func wait(until isTrue: () -> Bool) { expectSoon("the transfer") { condition.update(isTrue) } }

    /// Waits for the end.
    func waitForEnd() -> TransferError? {
        wait { !ends.isEmpty }
        return condition.update { ends.first ?? nil }
    }

    func waitForHead() -> ResponseHead? {
        wait { head != nil || !ends.isEmpty }
        return head
    }

    func waitForBytes() { wait { !bytes.isEmpty || !ends.isEmpty } }
    /// Waits until it has refused bytes so often.
    func waitForRefusals(_ count: Int) { wait { refusals >= count || !ends.isEmpty } }

    var body: [UInt8] { condition.update { bytes } }
    var text: String { String(decoding: body, as: UTF8.self) }
    var response: ResponseHead? { condition.update { head } }
    var endCount: Int { condition.update { ends.count } }
    var refusalCount: Int { condition.update { refusals } }
}
