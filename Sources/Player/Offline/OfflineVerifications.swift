import Database
import Platform

/// Reads whole offline copies for clients, one after the other on a thread of their own. A check ends when its client
/// leaves.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because control alone uses what changes.
final class OfflineVerifications: @unchecked Sendable {
    typealias Answer = @Sendable (OfflineVerification) -> Void

    /// What has to be done about a product.
    enum Finding {
        /// - Parameter content: what was read.
        case damaged(content: [UInt8])
        /// The row has damaged values.
        case unreadable
        /// It was held for damaged, and is whole: the job that was made for that is gone.
        /// - Parameter referenceId: nil when it is not valid, all the same.
        case repaired(referenceId: String?)
    }

    /// In nanoseconds.
    private static let retryInterval: Int64 = 1_000_000_000

    private struct Request {
        let check: OfflineCheck
        let product: ServiceAddress
        let answer: Answer
        let found: @Sendable (Finding) -> Void
    }

    private let store: OfflineStore
    private let loop: EventLoop
    private let clock: TrustedClock
    private var thread: OfflineThread?
    /// The one that runs, if `thread` does, and what comes after it.
    private var requests: [Request] = []
    private var isShutDown = false
    /// Runs while the system has no thread for the first request.
    private var retry: TimerToken?
    /// Tests replace it.
    var startThread: (@escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> OfflineThread = {
        (body) throws(SystemError) in try OfflineThread("verification", body)
    }

    init(_ store: OfflineStore, loop: EventLoop, clock: TrustedClock) {
        self.store = store
        self.loop = loop
        self.clock = clock
    }

    /// - Parameter found: called before `answer`.
    func verify(
        _ product: ServiceAddress, _ check: OfflineCheck, _ answer: @escaping Answer,
        _ found: @escaping @Sendable (Finding) -> Void
    ) {
        loop.assertOnLoop()
        guard !isShutDown else { return answer(.stopped) }
        requests.append(Request(check: check, product: product, answer: answer, found: found))
        if thread == nil { verifyNext() }
    }

    /// Ends a check, or takes it out of the queue. Nothing happens when it has ended.
    func cancel(_ check: OfflineCheck) {
        loop.assertOnLoop()
        guard let index = requests.firstIndex(where: { $0.check === check }) else { return }
        // The one that runs is answered when its thread has ended, which is soon.
        if index == 0, let thread { return thread.cancel() }
        requests.remove(at: index).answer(.stopped)
    }

    /// How many have been asked for and not ended.
    var count: Int { requests.count }

    /// Ends what runs; all are answered. Blocks.
    func shutDown() {
        isShutDown = true
        thread?.cancel()
        thread?.join()
        thread = nil
        for request in requests { request.answer(.stopped) }
        requests = []
    }

    private func verifyNext() {
        guard let request = requests.first else { return }
        let (loop, store, product) = (loop, store, request.product)
        do throws(SystemError) {
            thread = try startThread { [self] cancellation in
                let (result, content) = KeptBytes.verify(product, store, cancellation)
                var finding: Finding?
                if content == nil, result == .damaged { finding = .unreadable }
                if let content {
                    finding = result == .whole ? found(whole: product, content) : nil
                    if result == .damaged { finding = .damaged(content: content) }
                }
                loop.post { [self, finding] in verified(result, finding) }
            }
        } catch {
            if error.isOfResources { return waitForThread() }
            requests.removeFirst()
            request.answer(.unreadable(reason: error.description))
            verifyNext()
        }
    }

    /// The system has no thread or descriptor left: the check keeps its place.
    private func waitForThread() {
        guard retry == nil else { return }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            if !isShutDown, thread == nil { verifyNext() }
        }
    }

    private func verified(_ result: OfflineVerification, _ finding: Finding?) {
        // Its client was told that the engine ends.
        guard !isShutDown else { return }
        thread?.join()
        thread = nil
        let request = requests.removeFirst()
        if let finding { request.found(finding) }
        request.answer(result)
        if thread == nil { verifyNext() }
    }

    /// All of it was read: it is not damaged, if it was held for that. The verification's thread.
    private func found(whole product: ServiceAddress, _ content: [UInt8]) -> Finding? {
        let time = clock.seconds
        do throws(DatabaseError) {
            let repaired = try store.waitToWrite {
                (rows) throws(DatabaseError) -> (parts: [[UInt8]], referenceId: String?)? in
                guard let parts = try rows.markWhole(product, content), try rows.job(product) == nil else { return nil }
                let item = try rows.item(product)
                return (parts, item?.validity.holds(at: time) ?? false ? item?.referenceId : nil)
            }
            guard let repaired else { return nil }
            // Power loss here: the files of parts belong to nobody, and the next start removes them.
            store.removeFiles(repaired.parts)
            return .repaired(referenceId: repaired.referenceId)
        } catch {
            Log.warning("\(product.text) is whole, and still listed as damaged: \(error)")
            return nil
        }
    }
}
