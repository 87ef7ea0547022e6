import Fetching
import Media
import Network
import Platform
import Playback

/// One request to load a playlist again.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
final class LiveReload: @unchecked Sendable {
    /// The addresses of the playlist.
    let addresses: ResourceAddresses
    private let answer = WholeAnswer()
    private let lock = Lock()
    private var transfer: ResourceTransfer?
    private var isCancelled = false
    private var isLate = false

    /// Begins after `delay`. It may be silent as long as the request says, and take twice as long in all.
    /// - Parameters:
    ///   - addresses: the addresses of the same playlist, which are requested in turn.
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
            request, over: network, for: .live, continues: false, at: addresses, progress: progress, into: answer)
        let isUnwanted = lock.withLock {
            self.transfer = transfer
            return isCancelled
        }
        if isUnwanted { return transfer.cancel() }
        guard answer.result == nil, let silence = request.longestSilence else { return }
        network.schedule(after: 2 * Int64(silence) * 1_000_000) { [self] in giveUp() }
    }

    /// Cancels the request if it has not ended.
    private func giveUp() {
        guard answer.result == nil else { return }
        let transfer = lock.withLock {
            isLate = true
            return self.transfer
        }
        transfer?.cancel()
    }

    /// The result; nil until the request has ended.
    var result: Result<WholeAnswer.Content, ResourceFailure>? {
        guard let result = answer.result else { return nil }
        if case .failure(.cancelled) = result, lock.withLock({ isLate }) { return .failure(.transfer(.timeOut(.body))) }
        return result
    }

    func cancel() {
        let transfer = lock.withLock {
            isCancelled = true
            return self.transfer
        }
        transfer?.cancel()
    }

    /// Calls `wake` once when the request has ended, as `ByteSource.whenReadable` does.
    func whenOver(_ wake: @escaping @Sendable () -> Void) { answer.whenOver(wake) }
}
