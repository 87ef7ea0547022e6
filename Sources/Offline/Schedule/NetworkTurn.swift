import Platform

/// Lets playback go first: downloads wait here while the playing product needs the network.
///
/// Thread: any.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class NetworkTurn: @unchecked Sendable {
    private let lock = Lock()
    private var isTaken = false
    private var waiting: [WakeUp] = []

    /// Sets whether playback needs the network.
    func setTaken(_ isTaken: Bool) {
        let waiting: [WakeUp] = lock.withLock {
            self.isTaken = isTaken
            guard !isTaken else { return [] }
            defer { self.waiting = [] }
            return self.waiting
        }
        for wakeUp in waiting { wakeUp.signal() }
    }

    /// Waits until the network is free.
    func wait(_ cancellation: Cancellation) throws(OfflineFailure) {
        while lock.withLock({ isTaken }) {
            do throws(SystemError) {
                let wakeUp = try WakeUp()
                let mustWait = lock.withLock {
                    if isTaken { waiting.append(wakeUp) }
                    return isTaken
                }
                guard mustWait else { return }
                _ = try cancellation.wait(for: wakeUp.descriptor, .readable, milliseconds: -1)
            } catch {
                throw .medium(error)
            }
            if cancellation.isCancelled { throw .stopped }
        }
    }
}
