import Fetching
import Platform
import Synchronization

/// Requests from control to a decoder thread. The thread checks them between two blocks, and is woken when it waits.
/// `@unchecked Sendable` is safe because `lock` or atomics guard the mutable state.
final class DecoderRequests: @unchecked Sendable {
    enum Request: Equatable {
        /// Continue decoding from this position, in a new stream. The following reports have this `number`.
        case position(seconds: Double, number: Int)
        /// Mark the end of the frames before a failure.
        case finish
    }

    let cancellation: Cancellation
    let medium = MediumAccess()
    private let arrival: WakeUp
    private let lock = Lock()
    /// Guarded by `lock`.
    private var request: Request?
    private let isPlaying = Atomic(false)
    /// Whether the decoder thread sleeps, or has ended.
    private let isAtRest = Atomic(false)

    init() throws(SystemError) {
        cancellation = try Cancellation()
        arrival = try WakeUp()
    }

    // MARK: Control

    /// Replaces a request that was not received yet.
    func ask(_ request: Request) {
        lock.withLock { self.request = request }
        arrival.signal()
    }

    func setPlaying(_ playing: Bool) {
        if isPlaying.exchange(playing, ordering: .relaxed) != playing { arrival.signal() }
    }

    // MARK: Any thread

    /// Ends the decoder thread's sleep: the missing bytes have arrived.
    func wake() { arrival.signal() }

    /// A number that changes while the decoder thread works; nil while it is idle, or waits for its medium. If it stays
    /// the same for long, the thread hangs, because a working decoder reads repeatedly, and sleeps when the ring is
    /// full.
    var beat: UInt32? { isAtRest.load(ordering: .relaxed) || medium.isWaiting ? nil : medium.count }

    // MARK: Decoder thread

    /// The request that has arrived since the last call.
    func take() -> Request? {
        lock.withLock {
            defer { request = nil }
            return request
        }
    }

    /// Ends the next sleep when bytes of the product have arrived, or one of its transfers has ended.
    func wakeAtBytes() { medium.stream.wake(arrival, at: .bytes) }

    /// Ends the next sleep when a transfer of the product has ended, if no frames are being taken. While frames are
    /// taken, each sleep has a time limit.
    func wakeAtEndOfTransfer() {
        if !isPlaying.load(ordering: .relaxed) { medium.stream.wake(arrival, at: .end) }
    }

    /// Sleeps until something arrives, or for `milliseconds` while frames are being taken.
    /// - Returns: false when cancelled.
    func wait(milliseconds: Int) -> Bool {
        sleep(isPlaying.load(ordering: .relaxed) ? milliseconds : -1)
    }

    /// Sleeps until something arrives.
    /// - Returns: false when cancelled.
    func waitForRequest() -> Bool { sleep(-1) }

    /// Notes that the decoder thread has ended.
    func ended() { isAtRest.store(true, ordering: .relaxed) }

    private func sleep(_ milliseconds: Int) -> Bool {
        isAtRest.store(true, ordering: .relaxed)
        defer { isAtRest.store(false, ordering: .relaxed) }
        do throws(SystemError) {
            let outcome = try cancellation.wait(for: arrival.descriptor, .readable, milliseconds: milliseconds)
            arrival.clear()
            return outcome != .cancelled
        } catch {
            // poll(2) of our own descriptors does not fail. If it did, the thread ends as if it was cancelled.
            return false
        }
    }
}
