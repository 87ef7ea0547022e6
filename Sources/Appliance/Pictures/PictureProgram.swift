import PictureRequests
import Platform

/// `tonearm-pictures`, which makes thumbnails: started when it is needed, one at a time. It ends by itself when it is
/// idle, and with this process. Foreign pictures are decoded in it, so that a hostile picture ends only that program.
///
/// Thread: one at a time, but `end` is for any. `@unchecked Sendable` is safe because `lock` guards what `end` uses,
/// and the rest belongs to the one thread.
package final class PictureProgram: @unchecked Sendable {
    /// The limits of a request and of the program's life, in nanoseconds.
    package struct Limits: Sendable {
        /// The time after which the program is killed, because its medium or the machine is slow. The program itself
        /// ends after 5 s of processor time.
        var request: Int64 = 15_000_000_000
        /// How long a client waits for a thumbnail.
        var client: Int64 = 10_000_000_000
        /// The idle time after which the program gets no more requests. It ends after 30 s without one, and could end
        /// just when a request arrives.
        var idle: Int64 = 20_000_000_000
    }

    /// How a request ended.
    enum Answer: Equatable {
        case answered(PictureAnswer)
        /// The program ended without an answer.
        case ended
        case tookTooLong
        /// The program could not be started.
        case notStarted
    }

    /// Returns the path of the program in the folder of the running program.
    package static func besideThisProgram() -> String {
        let own = (try? Folder.resolved("/proc/self/exe")) ?? "/usr/bin/tonearm"
        return "\(Folder.containing(own))/tonearm-pictures"
    }

    private let path: String
    let limits: Limits
    private let clock: any MonotonicClock
    private let lock = Lock()
    private var running: CompanionProgram?
    private var isOver = false
    /// The time at which the running program last answered.
    private var answered: Int64 = 0

    package init(_ path: String, limits: Limits = Limits(), clock: any MonotonicClock) {
        (self.path, self.limits, self.clock) = (path, limits, clock)
    }

    /// Whether the program's file exists.
    var exists: Bool { FileKind(at: path) == .file }

    /// Asks the program, and waits for its answer.
    /// - Parameters:
    ///   - picture: the picture's file, open for reading.
    ///   - result: an empty file, open for writing.
    func answer(to request: PictureRequest, picture: Int32, result: Int32) -> Answer {
        if let running = lock.withLock({ running }), clock.now() - answered < limits.idle,
            running.send(request.bytes, with: (picture, result))
        {
            return answer(of: running)
        }
        stop()
        let started: CompanionProgram
        do throws(SystemError) { started = try CompanionProgram(at: path, name: "tonearm-pictures") } catch {
            Log.warning("there are no thumbnails of covers now: \(error)")
            return .notStarted
        }
        let mayRun = lock.withLock {
            running = isOver ? nil : started
            return !isOver
        }
        guard mayRun else { return .notStarted }
        guard started.send(request.bytes, with: (picture, result)) else {
            stop()
            return .ended
        }
        return answer(of: started)
    }

    private func answer(of program: CompanionProgram) -> Answer {
        let arrival = program.receive(PictureAnswer.byteCount, atMost: limits.request)
        answered = clock.now()
        if case .packet(let bytes) = arrival, let answer = PictureAnswer(bytes: bytes) { return .answered(answer) }
        stop()
        if lock.withLock({ isOver }) { return .notStarted }
        return arrival == .nothing ? .tookTooLong : .ended
    }

    private func stop() {
        // Drops the last reference outside of the lock.
        let former = lock.withLock {
            defer { running = nil }
            return running
        }
        former?.kill()
    }

    /// Ends the program for good. A thread that waits for an answer gets `.ended`.
    func end() {
        lock.withLock {
            isOver = true
            running?.kill()
        }
    }
}
