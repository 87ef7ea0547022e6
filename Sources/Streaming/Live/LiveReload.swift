import Fetching
import Media
import Network
import Platform
import Playback

/// One request to load a playlist again.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class LiveReload: ResourceReceiver, @unchecked Sendable {
    /// The addresses of the playlist.
    let addresses: ResourceAddresses
    private let lock = Lock()
    private var content = WholeAnswer.Content(body: [], url: "")
    private var outcome: Result<WholeAnswer.Content, ResourceFailure>?
    private var transfer: ResourceTransfer?
    private var isCancelled = false
    private var wake: (@Sendable () -> Void)?

    /// - Parameters:
    ///   - addresses: of the same playlist, which are requested in turn.
    ///   - wantsLink: whether a new link ends the delay.
    init(
        _ request: TransferRequest, at addresses: ResourceAddresses, _ requests: ServiceRequests, after delay: Int64,
        wantsLink: Bool
    ) {
        self.addresses = addresses
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
            request, over: network, for: .live, continues: false, at: addresses, progress: progress, into: self)
        let isUnwanted = lock.withLock {
            if outcome == nil { self.transfer = transfer }
            return isCancelled
        }
        if isUnwanted { transfer.cancel() }
    }

    /// The result; nil until the request has ended.
    var result: Result<WholeAnswer.Content, ResourceFailure>? { lock.withLock { outcome } }

    func cancel() {
        let transfer = lock.withLock {
            isCancelled = true
            return self.transfer
        }
        transfer?.cancel()
    }

    /// Calls `wake` once when the request has ended, as `ByteSource.whenReadable` does.
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
