import Database
import Platform
import Playback

/// Reads whole offline copies for clients, one after the other on a thread of their own. A check ends when its client
/// disconnects.
///
/// Thread: control, except where a declaration says otherwise.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
final class OfflineVerifications: @unchecked Sendable {
    typealias Answer = @Sendable (OfflineVerification) -> Void

    /// The repair that a product needs.
    enum Finding {
        /// - Parameter content: the content that was read.
        case damaged(content: [UInt8])
        /// The row has damaged values.
        case unreadable
        /// The copy was marked as damaged, and is whole: the download of its repair was removed.
        /// - Parameter referenceId: nil when the copy is not valid all the same.
        case repaired(referenceId: String?)
    }

    /// The delay until a check without a thread is retried, in nanoseconds.
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
    private var thread: CancellableThread?
    /// The requests in order; `thread`, if there is one, carries out the first.
    private var requests: [Request] = []
    private var isShutDown = false
    /// The timer while the system has no thread for the first request.
    private var retry: TimerToken?
    /// Tests replace it.
    var startThread: (@escaping @Sendable (Cancellation) -> Void) throws(SystemError) -> CancellableThread = {
        (body) throws(SystemError) in try CancellableThread("verification", body)
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

    /// Ends a check, or removes it from the queue. Does nothing when it has ended.
    func cancel(_ check: OfflineCheck) {
        loop.assertOnLoop()
        guard let index = requests.firstIndex(where: { $0.check === check }) else { return }
        // The running check is answered when its thread has ended, which is soon.
        if index == 0, let thread { return thread.cancel() }
        requests.remove(at: index).answer(.stopped)
    }

    /// The number of checks that have not ended.
    var count: Int { requests.count }

    /// Ends the running check and answers all. Blocks.
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
                let (result, content) = OfflineCopyBytes.verify(product, store, cancellation)
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

    /// Waits while the system has no thread or descriptor: the check stays the first.
    private func waitForThread() {
        guard retry == nil else { return }
        retry = loop.schedule(after: Self.retryInterval) { [self] in
            retry = nil
            if !isShutDown, thread == nil { verifyNext() }
        }
    }

    private func verified(_ result: OfflineVerification, _ finding: Finding?) {
        // `shutDown` has answered the client already.
        guard !isShutDown else { return }
        thread?.join()
        thread = nil
        let request = requests.removeFirst()
        if let finding { request.found(finding) }
        request.answer(result)
        if thread == nil { verifyNext() }
    }

    /// Removes the mark of damage from a copy that was read without an error. Thread: the verification's.
    private func found(whole product: ServiceAddress, _ content: [UInt8]) -> Finding? {
        let time = clock.seconds
        do throws(DatabaseError) {
            let repaired = try store.waitToWrite {
                (rows) throws(DatabaseError) -> (parts: [[UInt8]], referenceId: String?)? in
                guard let parts = try rows.markWhole(product, content), try rows.download(product) == nil else {
                    return nil
                }
                let item = try rows.item(product)
                return (parts, item?.validity.holds(at: time) ?? false ? item?.referenceId : nil)
            }
            guard let repaired else { return nil }
            // Power loss here: the files of parts have no row, and the next start removes them.
            store.removeFiles(repaired.parts)
            return .repaired(referenceId: repaired.referenceId)
        } catch {
            Log.warning("\(product.text) is whole, and still listed as damaged: \(error)")
            return nil
        }
    }
}
