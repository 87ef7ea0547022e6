import CALSA
import CLinux

/// A device's descriptors for poll(2), and one to end the wait. Allocated once.
struct PollDescriptors: ~Copyable {
    enum Event: Equatable {
        /// No event: timeout, a signal, or the wake-up descriptor is readable.
        case none
        case ready
        /// The device reports an error; its state shows which one.
        case error
    }

    private let entries: UnsafeMutablePointer<pollfd>
    private let deviceCount: Int
    private let pcm: OpaquePointer

    init(of handle: borrowing PCMHandle) throws(ALSAFailure) {
        let count = snd_pcm_poll_descriptors_count(handle.raw)
        try ALSAFailure.check(count)
        let capacity = Int(count) + 1
        let entries = UnsafeMutablePointer<pollfd>.allocate(capacity: capacity)
        entries.initialize(repeating: pollfd(fd: -1, events: 0, revents: 0), count: capacity)
        let filled = snd_pcm_poll_descriptors(handle.raw, entries, UInt32(count))
        guard filled >= 0 else {
            entries.deallocate()
            throw ALSAFailure(code: filled)
        }
        self.entries = entries
        deviceCount = Int(filled)
        pcm = handle.raw
    }

    deinit { entries.deallocate() }

    /// - Parameter wakeUp: the wait ends when this descriptor is readable; -1 for none.
    func wait(wakeUp: Int32, milliseconds: Int32) -> Event {
        entries[deviceCount] = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        guard poll(entries, nfds_t(deviceCount + 1), milliseconds) > 0 else { return .none }
        var events: UInt16 = 0
        guard snd_pcm_poll_descriptors_revents(pcm, entries, UInt32(deviceCount), &events) == 0 else { return .error }
        if Int32(events) & (POLLERR | POLLNVAL | POLLHUP) != 0 { return .error }
        return Int32(events) & POLLOUT != 0 ? .ready : .none
    }

    /// Whether the last wait ended with the wake-up descriptor readable.
    var wasWoken: Bool { entries[deviceCount].revents != 0 }
}
