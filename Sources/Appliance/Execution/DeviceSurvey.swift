import Output
import Platform

/// Looks at the sound cards of the machine for clients. Each look opens every device for a moment, which takes
/// milliseconds: a thread of its own does it, one at a time.
///
/// Thread: the daemon's. `@unchecked Sendable` is safe because the other thread only posts to `loop`.
final class DeviceSurvey: @unchecked Sendable {
    typealias Answer = (Result<RemoteReply, RemoteFailure>) -> Void

    private let loop: EventLoop
    private let look: @Sendable () -> [SoundCard]
    /// The callers that wait for the running look, and those that came after it began.
    private var waiting: (now: [Answer], next: [Answer]) = ([], [])

    init(loop: EventLoop, look: @escaping @Sendable () -> [SoundCard] = { SoundCard.all() }) {
        self.loop = loop
        self.look = look
    }

    /// - Parameter answer: called once, later.
    func perform(_ answer: @escaping Answer) {
        loop.assertOnLoop()
        waiting.next.append(answer)
        if waiting.now.isEmpty { begin() }
    }

    private func begin() {
        waiting = (waiting.next, [])
        let (loop, look) = (loop, look)
        do throws(SystemError) {
            _ = try NamedThread.start(name: "devices", stackSize: 256 << 10) { [self] in
                let cards = look()
                loop.post { [self] in finish(.success(.devices(cards))) }
            }
        } catch {
            finish(.failure(RemoteFailure(.system, error.description)))
        }
    }

    private func finish(_ result: Result<RemoteReply, RemoteFailure>) {
        let answers = waiting.now
        waiting.now = []
        for answer in answers { answer(result) }
        // An answer may have begun another look.
        if waiting.now.isEmpty, !waiting.next.isEmpty { begin() }
    }
}
