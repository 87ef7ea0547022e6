import Manifests
import Media
import Network
import Platform

/// Receives a resource of live content. Any incomplete answer is followed by another attempt, which continues after the
/// last byte that has arrived. `LivePatience` decides when (docs/decisions/live-content-goes-on.md).
///
/// Thread: any; the receiver is called on the network's thread.
/// `@unchecked Sendable` is safe because `lock` guards the state that several threads change.
final class LiveTransfer: ResourceReceiver, OngoingTransfer, @unchecked Sendable {
    private let network: any ServiceNetwork
    private let request: TransferRequest
    private let receiver: any ResourceReceiver
    private let addresses: ResourceAddresses?
    private let retries: LiveRetries
    private let progress: StreamProgress?
    private let progressID: Int
    private let lock = Lock()
    // Guarded by `lock`.
    private var transfer: ResourceTransfer?
    private var attempts = 0
    private var isCancelled = false
    private var isOver = false
    // Used only by the network's thread.
    private var patience: LivePatience
    private var arrived: Int64 = 0
    private var version: ResourceVersion
    private var answer = Answer()

    /// The answer to the current attempt.
    private struct Answer {
        /// When the attempt began, or its last new byte arrived, in nanoseconds.
        var since: Int64 = 0
        var head: (head: ResponseHead, length: Int64?)?
        /// Whether the answer contains something other than the resource.
        var isForeign = false
        /// Whether the receiver had no room for the last bytes. This time does not count.
        var isPaused = false

        /// Returns the time since the last new byte, in nanoseconds.
        func silence(at now: Int64) -> Int64 { isPaused ? 0 : now - since }
    }

    /// Begins the first attempt.
    /// - Parameters:
    ///   - version: the wanted version, as in `ResourceTransfer`.
    ///   - addresses: the addresses of the same bytes: attempts request them in turn. nil for the address of the
    ///     request alone.
    init(
        _ request: TransferRequest, of version: ResourceVersion, over network: any ServiceNetwork,
        at addresses: ResourceAddresses? = nil, _ retries: LiveRetries, progress: StreamProgress?,
        into receiver: any ResourceReceiver
    ) {
        (self.network, self.request, self.receiver, self.retries) = (network, request, receiver, retries)
        (self.addresses, self.progress, self.version) = (addresses, progress, version)
        progressID = progress?.newID() ?? 0
        patience = LivePatience(targetDuration: retries.targetDuration)
        attempt()
    }

    /// Cancels the transfer; the receiver gets `.cancelled`, unless it has ended. Idempotent.
    func cancel() {
        let ongoing: ResourceTransfer? = lock.withLock {
            isCancelled = true
            return transfer
        }
        if let ongoing { return ongoing.cancel() }
        network.schedule(after: 0) { [self] in
            if lock.withLock({ transfer }) == nil { finish(.cancelled) }
        }
    }

    /// Delivers again after the receiver has answered `.enough`.
    func resume() { lock.withLock { transfer }?.resume() }

    // MARK: Attempts

    private func attempt() {
        if lock.withLock({ isCancelled }) { return finish(.cancelled) }
        var request = request.rest(from: arrived)
        request.live(longestSilence: patience.longestSilence)
        // The cached answer may be the useless one.
        if attempts > 0 { request.headers.append(HeaderField("Cache-Control", "no-cache")) }
        answer = Answer(since: retries.clock.now())
        let number = lock.withLock {
            attempts += 1
            return attempts
        }
        let transfer = ResourceTransfer(
            request, of: mayMove ? version.ofAnyHost : version, over: network, for: .live, at: addresses,
            progress: progress, into: self)
        // The attempt may have ended already, and the next one may have begun.
        let isUnwanted = lock.withLock {
            if attempts == number, !isOver { self.transfer = transfer }
            return isCancelled
        }
        if isUnwanted { transfer.cancel() }
    }

    /// Whether another host may answer the next attempt.
    private var mayMove: Bool { addresses.map { $0.alternatives.addresses.count > 1 } ?? false }

    private func finish(_ failure: ResourceFailure?) {
        let wasOver = lock.withLock {
            defer { isOver = true }
            return isOver
        }
        progress?.proceeds(progressID)
        if !wasOver { receiver.ended(failure) }
    }

    // MARK: The answer

    func began(_ head: ResponseHead, length: Int64?) {
        answer.head = (head, length)
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        if arrived == 0, retries.refusesText, WebPage.isText(bytes) { answer.isForeign = true }
        if answer.isForeign || patience.isTooSlow {
            lock.withLock { transfer }?.cancel()
            return .more
        }
        // The receiver is not notified of answers without a byte of the resource.
        if arrived == 0, let head = answer.head { receiver.began(head.head, length: head.length) }
        guard receiver.received(bytes) == .more else {
            answer.isPaused = true
            return .enough
        }
        if let head = answer.head { version = version.completed(by: ResourceVersion(head.head)) }
        arrived += Int64(bytes.count)
        let now = retries.clock.now()
        patience.proceeds(after: answer.silence(at: now))
        (answer.since, answer.isPaused) = (now, false)
        progress?.proceeds(progressID)
        return .more
    }

    func ended(_ failure: ResourceFailure?) {
        let isCancelled = lock.withLock {
            transfer = nil
            // Also marks an attempt as ended that has not been stored in `transfer` yet.
            attempts += 1
            return self.isCancelled
        }
        if isCancelled { return finish(.cancelled) }
        // `ResourceTransfer` has recorded all other failures of addresses.
        if answer.isForeign || failure == .changed || failure == nil && missing != nil {
            addresses?.turnAway(from: answer.head?.head.effectiveURL)
        }
        guard let failure = answer.isForeign ? .text : failure ?? missing else { return finish(nil) }
        if patience.isTooSlow { return finish(.transfer(.timeOut(.body))) }
        let took = answer.silence(at: retries.clock.now())
        guard failure.byteSourceError.isOfLiveAnswer, let delay = patience.delay(afterAttempt: took) else {
            return finish(failure)
        }
        guard case .transfer(let error) = failure, error.isOfNetwork else {
            progress?.willRetry(progressID, after: .server(retryAfter: nil), delay: delay)
            return network.waitForServer(atMost: delay) { [self] in attempt() }
        }
        progress?.willRetry(progressID, after: .network, delay: delay)
        network.waitForLink(atMost: delay) { [self] _ in attempt() }
    }

    /// The failure of an answer that seems complete and lacks bytes; nil when no bytes are missing.
    private var missing: ResourceFailure? {
        if let range = request.range, let end = range.upTo { return arrived < end - range.from ? .tooShort : nil }
        let expected = version.length.map { $0 - (request.range?.from ?? 0) } ?? 1
        return arrived < expected ? .tooShort : nil
    }
}

extension ResourceFailure {
    fileprivate static let tooShort = ResourceFailure.transfer(.truncated)
    /// The answer does not come from the service.
    fileprivate static let text = ResourceFailure.refused(ServiceRefusal(status: 200))
}

extension ByteSourceError {
    /// Whether the failure comes from an answer, as for `MediaError.isOfAnswer`.
    package var isOfLiveAnswer: Bool { MediaError.source(self).isOfAnswer }
}
