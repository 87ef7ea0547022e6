import Platform
import Synchronization

/// Why a wait for a link has ended.
public enum LinkWaitEnd: Equatable, Sendable {
    /// Its time has passed.
    case timeElapsed
    /// There is another link.
    case linkChanged
}

/// The waits before another attempt over the network: each until a time, or until something makes another attempt
/// worth it at once: another link, or for waits that a server has asked for the beginning of offline mode.
///
/// Thread: the loop's.
/// `@unchecked Sendable` is safe because the loop alone uses what is in here.
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

    /// Another number after each change of the link. Any thread.
    var changes: UInt32 { linkChanges.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - seen: the changes that the caller knows of: another one since ends the wait at once.
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

    /// Ends all waits, in their order. Those that are added meanwhile stay.
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
