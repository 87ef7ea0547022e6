import Platform
import Synchronization

/// Why a wait for a link has ended.
public enum LinkWaitEnd: Equatable, Sendable {
    /// Its time has passed.
    case timeElapsed
    /// The link has changed.
    case linkChanged
}

/// The waits before further attempts over the network. Each ends at its time, or early when another attempt is
/// worthwhile at once: after a change of the link. A wait that a server has requested ends early only when offline mode
/// begins.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because only the loop uses the state.
final class LinkWaits: @unchecked Sendable {
    private struct Wait {
        let timer: TimerToken
        let action: @Sendable (LinkWaitEnd) -> Void
    }

    private let loop: EventLoop
    private var nextNumber: UInt64 = 0
    private var waits: [UInt64: Wait] = [:]
    private let linkChanges = Atomic<UInt32>(0)

    init(on loop: EventLoop) { self.loop = loop }

    /// A number that differs after each change of the link. Any thread.
    var changes: UInt32 { linkChanges.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - seen: the value of `changes` that the caller knows; the wait ends at once if it has changed since.
    ///   - action: called once.
    func add(
        since seen: UInt32? = nil, atMost nanoseconds: Int64, _ action: @escaping @Sendable (LinkWaitEnd) -> Void
    ) {
        if let seen, seen != changes { return action(.linkChanged) }
        let number = nextNumber
        nextNumber += 1
        let timer = loop.schedule(after: nanoseconds) { [self] in end(number, .timeElapsed) }
        waits[number] = Wait(timer: timer, action: action)
    }

    /// Ends all waits, in their order. Waits that are added meanwhile stay.
    func wake() {
        loop.assertOnLoop()
        linkChanges.wrappingAdd(1, ordering: .relaxed)
        for number in waits.keys.sorted() { end(number, .linkChanged) }
    }

    private func end(_ number: UInt64, _ reason: LinkWaitEnd) {
        guard let wait = waits.removeValue(forKey: number) else { return }
        loop.cancel(wait.timer)
        wait.action(reason)
    }
}
