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

    private enum Outcome {
        case complete
        case failed(ResourceFailure)
    }

    /// The most bytes that wait for the thread, plus at most one delivery of the transfer.
    private static let capacity = 1 << 20
    /// Bytes that wake the thread: a chunk, since fewer are not sealed yet. The end always wakes it.
    private static let worthWaking = 1 << 16

    private let arrival: WakeUp
    /// Whether the transfer continues a resource after bytes that are already stored. A complete answer then means that
    /// the resource has changed.
    private let isContinuation: Bool
    private let lock = Lock()
    private var pieces: [[UInt8]] = []
    private var waiting = 0
    private var isFull = false
    private var length: Int64?
    private var validator: String?
    private var outcome: Outcome?

    init(isContinuation: Bool) throws(SystemError) {
        arrival = try WakeUp()
        self.isContinuation = isContinuation
    }

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
        if !pieces.isEmpty {
            defer {
                pieces = []
                waiting = 0
                isFull = false
            }
            return (.bytes(pieces), isFull)
        }
        guard let outcome else {
            arrival.clear()
            return nil
        }
        if case .failed(let failure) = outcome { throw failure }
        return (.end, false)
    }

    // MARK: From the network

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock {
            self.length = length
            validator = head.strongValidator
            guard isContinuation, head.status != 206 else { return }
            // The thread ends the transfer: the rest is not needed.
            outcome = .failed(.changed)
            arrival.signal()
        }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        lock.withLock {
            if outcome != nil { return .more }
            if waiting >= Self.capacity {
                isFull = true
                return .enough
            }
            let wasWorthWaking = waiting >= Self.worthWaking
            pieces.append(copiedBytes(bytes))
            waiting += bytes.count
            if !wasWorthWaking, waiting >= Self.worthWaking { arrival.signal() }
            return .more
        }
    }

    func ended(_ failure: ResourceFailure?) {
        lock.withLock {
            if outcome == nil { outcome = failure.map { .failed($0) } ?? .complete }
            arrival.signal()
        }
    }
}
