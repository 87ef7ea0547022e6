import Network
import Platform

/// One more request for a playlist.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards what changes.
final class LiveReload: ResourceReceiver, @unchecked Sendable {
    private let lock = Lock()
    private var content = WholeAnswer.Content(body: [], url: "")
    private var outcome: Result<WholeAnswer.Content, ResourceFailure>?
    private var transfer: ResourceTransfer?
    private var isCancelled = false
    private var wake: (@Sendable () -> Void)?

    /// - Parameter wantsLink: whether another link ends the delay.
    init(_ request: TransferRequest, _ requests: ServiceRequests, after delay: Int64, wantsLink: Bool) {
        let (network, progress) = (requests.network, requests.medium.stream)
        if wantsLink {
            network.waitForLink(atMost: delay) { [self] _ in begin(request, over: network, progress) }
        } else {
            network.schedule(after: delay) { [self] in begin(request, over: network, progress) }
        }
    }

    private func begin(_ request: TransferRequest, over network: any ServiceNetwork, _ progress: StreamProgress) {
        guard !lock.withLock({ isCancelled }) else { return }
        let transfer = ResourceTransfer(
            request, over: network, for: .live, continues: false, progress: progress, into: self)
        let isUnwanted = lock.withLock {
            if outcome == nil { self.transfer = transfer }
            return isCancelled
        }
        if isUnwanted { transfer.cancel() }
    }

    /// nil while it is not over.
    var result: Result<WholeAnswer.Content, ResourceFailure>? { lock.withLock { outcome } }

    func cancel() {
        let transfer = lock.withLock {
            isCancelled = true
            return self.transfer
        }
        transfer?.cancel()
    }

    /// As `ByteSource.whenReadable`.
    func whenOver(_ wake: @escaping @Sendable () -> Void) {
        let isOver = lock.withLock {
            if outcome == nil { self.wake = wake }
            return outcome != nil
        }
        if isOver { wake() }
    }

    func began(_ head: ResponseHead, length: Int64?) {
        lock.withLock { content = WholeAnswer.Content(body: [], url: head.effectiveURL) }
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        lock.withLock { content.body.append(contentsOf: bytes) }
        return .more
    }

    func ended(_ failure: ResourceFailure?) {
        let wake = lock.withLock {
            if let failure { outcome = .failure(failure) } else { outcome = .success(content) }
            transfer = nil
            defer { self.wake = nil }
            return self.wake
        }
        wake?()
    }
}
