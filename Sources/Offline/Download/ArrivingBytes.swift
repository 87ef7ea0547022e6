import Fetching
import Network
import Platform

/// The bytes of a resource, for a thread that waits for them.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class ArrivingBytes: ResourceReceiver, @unchecked Sendable {
    enum Step {
        case bytes([[UInt8]])
        /// All have arrived.
        case end
    }

    /// The most bytes that wait for the thread, plus at most one delivery of the transfer.
    private static let capacity = 1 << 20
    /// Bytes that wake the thread: a chunk, since fewer are not sealed yet. The end always wakes it.
    private static let worthWaking = 1 << 16

    private let arrival: WakeUp
    private let lock = Lock()
    private var buffer = BoundedBuffer(from: 0, capacity: capacity, worthWaking: worthWaking)
    private var length: Int64?
    private var validator: String?

    init() throws(SystemError) { arrival = try WakeUp() }

    /// The length of the whole resource in bytes, and the validator to continue it with. Known once bytes have arrived.
    var head: (length: Int64?, validator: String?) { lock.withLock { (length, validator) } }

    /// Waits for the next bytes. Thread: the download's.
    /// - Returns: the next step, and whether the transfer is paused and can be resumed.
    func next(_ cancellation: Cancellation) throws(OfflineFailure) -> (Step, wantsMore: Bool) {
        while true {
            let found: (Step, wantsMore: Bool)?
            do throws(ResourceFailure) {
                found = try lock.withLock { () throws(ResourceFailure) in try take() }
            } catch {
                throw error == .cancelled ? .stopped : .resource(error)
            }
            if let found { return found }
            let outcome: Cancellation.Outcome
            do throws(SystemError) {
                outcome = try cancellation.wait(for: arrival.descriptor, .readable, milliseconds: -1)
            } catch {
                throw .medium(error)
            }
            if outcome == .cancelled { throw .stopped }
        }
    }

    /// Under the lock.
    private func take() throws(ResourceFailure) -> (Step, wantsMore: Bool)? {
        let pieces = buffer.takeAll()
        if !pieces.isEmpty { return (.bytes(pieces), buffer.wantsMore(below: Self.capacity)) }
        switch buffer.progress {
        case .arriving:
            arrival.clear()
            _ = buffer.wait { [arrival] in arrival.signal() }
            return nil
        case .complete: return (.end, false)
        case .failed(let failure): throw failure
        }
    }

    // MARK: From the network

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock {
            self.length = length
            validator = head.strongValidator
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        let (answer, wake) = lock.withLock { (buffer.append(bytes), buffer.takeWake()) }
        wake?()
        return answer
    }

    func ended(_ failure: ResourceFailure?) {
        let wake = lock.withLock {
            buffer.finish(failure)
            return buffer.takeWake()
        }
        wake?()
    }
}
