import Platform
import Synchronization

/// What control asks of a decoder thread. The thread finds it between two blocks, and is woken for it where it waits.
/// `@unchecked Sendable` is safe because `lock` or atomics guard what changes.
final class DecoderRequests: @unchecked Sendable {
    enum Request: Equatable {
        /// Go on from here, in a new stream. `number` comes back in what is reported from then on.
        case position(seconds: Double, number: Int)
        /// Mark the end of what was decoded before a failure.
        case finish
    }

    let cancellation: Cancellation
    private let arrival: WakeUp
    private let lock = Lock()
    /// Guarded by `lock`.
    private var request: Request?
    private let isPlaying = Atomic(false)
    private let readsSource = Atomic(false)

    init() throws(SystemError) {
        cancellation = try Cancellation()
        arrival = try WakeUp()
    }

    // MARK: Control

    /// Replaces a request that was not taken yet.
    func ask(_ request: Request) {
        lock.withLock { self.request = request }
        arrival.signal()
    }

    func setPlaying(_ playing: Bool) {
        if isPlaying.exchange(playing, ordering: .relaxed) != playing { arrival.signal() }
    }

    // MARK: Any thread

    /// Ends the decoder thread's sleep: bytes that it waits for have arrived.
    func wake() { arrival.signal() }

    /// Whether the decoder thread is in its source now, opening, reading or seeking. Any thread.
    var isReading: Bool { readsSource.load(ordering: .relaxed) }

    // MARK: Decoder thread

    /// The thread goes into its source, where it may block for as long as the medium takes.
    func beginReading() { readsSource.store(true, ordering: .relaxed) }

    func endReading() { readsSource.store(false, ordering: .relaxed) }

    /// The request that has arrived since the last call.
    func take() -> Request? {
        lock.withLock {
            defer { request = nil }
            return request
        }
    }

    /// Sleeps until something arrives, or for `milliseconds` while frames are being taken.
    /// - Returns: false when cancelled.
    func wait(milliseconds: Int) -> Bool {
        sleep(isPlaying.load(ordering: .relaxed) ? milliseconds : -1)
    }

    /// Sleeps until something arrives.
    /// - Returns: false when cancelled.
    func waitForRequest() -> Bool { sleep(-1) }

    private func sleep(_ milliseconds: Int) -> Bool {
        do throws(SystemError) {
            let outcome = try cancellation.wait(for: arrival.descriptor, .readable, milliseconds: milliseconds)
            arrival.clear()
            return outcome != .cancelled
        } catch {
            // poll(2) of descriptors of our own does not fail; if it did, going on as cancelled frees the thread.
            return false
        }
    }
}
