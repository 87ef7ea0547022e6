import Manifests
import Media
import Network
import Platform

/// Receives a resource. Called on the network's thread; `ended` is the last call and happens once.
package protocol ResourceReceiver: AnyObject, Sendable {
    /// The answer begins. Called again after a retry when no byte of the body had arrived, and when the transfer starts
    /// over.
    /// - Parameter length: the length of the whole resource in bytes; nil when the server does not send it.
    func began(_ head: ResponseHead, length: Int64?)
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
    func ended(_ failure: ResourceFailure?)
}

/// Receives one resource, or a range of it, with the service's retries (docs/playback.md, 15.4). A retry continues
/// after the last byte that has arrived, if the server still has the same resource. Otherwise it starts over.
///
/// `TransferMachine` decides; this class carries its effects out.
///
/// Thread: any; the receiver is called on the network's thread.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class ResourceTransfer: TransferSink, OngoingTransfer, @unchecked Sendable {
    /// The request of the current attempt.
    private enum Running {
        /// There is no attempt, or it has ended.
        case none
        /// The network has not returned the request yet. The number is that of the attempt.
        case beginning(Int)
        case ongoing(any OngoingTransfer)
    }

    /// The latest attempt.
    private struct Attempt {
        var number = 0
        var url = ""
    }

    private let network: any ServiceNetwork
    private let receiver: any ResourceReceiver
    private let addresses: ResourceAddresses?
    /// Publishes waits in a status, and has the cookies.
    private let progress: StreamProgress?
    private let progressID: Int
    private let lock = Lock()
    // Guarded by `lock`.
    private var machine: TransferMachine
    private var running = Running.none
    private var attempt = Attempt()
    /// Whether a host that takes long to begin an answer gets the time. Other purposes give up soon.
    private let isPatient: Bool

    /// Begins the first attempt.
    /// - Parameters:
    ///   - offset: the offset of the first wanted byte, relative to the request's range.
    ///   - version: the wanted version; another one ends as `.changed`.
    ///   - isContinuation: whether the bytes before `offset` are stored, so that the request is conditional, and the
    ///     whole resource instead of the rest ends as `.changed`.
    ///   - addresses: the addresses of the same bytes; nil for the address of the request alone.
    ///   - continues: false for answers that the service makes for each request, for example with addresses that
    ///     expire. The end of one answer does not fit the beginning of another.
    package init(
        _ request: TransferRequest, from offset: Int64 = 0, of version: ResourceVersion = ResourceVersion(),
        isContinuation: Bool = false, over network: any ServiceNetwork,
        for purpose: RetrySchedule.Purpose = .playback, continues: Bool = true,
        at addresses: ResourceAddresses? = nil, progress: StreamProgress? = nil, into receiver: any ResourceReceiver
    ) {
        (self.network, self.receiver, self.addresses, self.progress) = (network, receiver, addresses, progress)
        progressID = progress?.newID() ?? 0
        isPatient = purpose == .playback || purpose == .offlining
        machine = TransferMachine(
            RequestedBytes(
                request, from: offset, of: version, isContinuation: isContinuation, continues: continues),
            AddressChoice(addresses?.alternatives.addresses ?? [], retries: addresses?.retries),
            TransferRetries(for: purpose))
        handle(.started)
    }

    /// Cancels the transfer; the receiver gets `.cancelled`, unless it has ended. Idempotent.
    package func cancel() { handle(.cancelled) }

    /// Delivers again after the receiver has answered `.enough`.
    package func resume() { ongoing?.resume() }

    // MARK: From the network

    package func began(_ head: ResponseHead) {
        progress?.cookies.take(head)
        if isPatient, let failed = addresses?.failed, let delay = head.firstByteDelay {
            failed.answered(lock.withLock { attempt.url }, after: delay)
        }
        handle(.headArrived(head))
    }

    package func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        switch lock.withLock({ machine.receive(bytes) }) {
        case .ignored: return .more
        case .refused(let effects):
            carryOut(effects)
            return .enough
        case .wanted(let part):
            guard receiver.received(UnsafeRawBufferPointer(rebasing: bytes[part])) == .more else { return .enough }
            let taken = lock.withLock { machine.taken(part, of: bytes.count) }
            if taken.endsWait { progress?.proceeds(progressID) }
            if let address = taken.workingAddress { addresses?.failed.succeeded(address) }
            carryOut(taken.effects)
            return .more
        }
    }

    package func ended(_ error: TransferError?) {
        lock.withLock { running = .none }
        handle(.answerEnded(error))
    }

    // MARK: Effects

    private func handle(_ event: TransferMachine.Event) {
        carryOut(lock.withLock { machine.handle(event) })
    }

    /// Must not be called under the lock, because the network and the receiver may call back at once.
    private func carryOut(_ effects: [TransferMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .attempt: beginAttempt()
            case .request(let request): begin(request)
            case .begin(let head, let length): receiver.began(head, length: length)
            case .cancelRequest: ongoing?.cancel()
            case .waitForTurn: network.schedule(after: 0) { [self] in beginAttempt() }
            case .waitForServer(let delay):
                progress?.willRetry(progressID, after: .server(retryAfter: nil), delay: delay)
                network.waitForServer(atMost: delay) { [self] in beginAttempt() }
            case .waitForLink(let delay):
                progress?.willRetry(progressID, after: .network, delay: delay)
                network.waitForLink(atMost: delay) { [self] end in
                    if end == .linkChanged { handle(.linkChanged) } else { beginAttempt() }
                }
            case .addressFailed(let address, let isOfHost): addresses?.failed.add(address, isOfHost: isOfHost)
            case .addressWorks(let address): addresses?.failed.succeeded(address)
            case .log(let line): Log.warning(line)
            case .end(let failure):
                progress?.proceeds(progressID)
                receiver.ended(failure)
            }
        }
    }

    private func beginAttempt() {
        let ranks = addresses.map { addresses in addresses.alternatives.addresses.map { addresses.failed.rank($0) } }
        handle(.attemptBegins(ranks: ranks ?? []))
    }

    private func begin(_ request: TransferRequest) {
        var request = request
        if let cookie = progress?.cookies.field(for: request.url) { request.headers.append(cookie) }
        if isPatient, addresses != nil || request.isReadInParts {
            let isOnlyWay = addresses?.isOnlyWay ?? true
            let learned = isOnlyWay ? FirstBytePatience.longest : addresses?.failed.firstByteTimeout(of: request.url)
            request.firstByteTimeout = [request.firstByteTimeout, learned].compactMap { $0 }.max()
        }
        let number = lock.withLock {
            attempt = Attempt(number: attempt.number + 1, url: request.url)
            running = .beginning(attempt.number)
            return attempt.number
        }
        let transfer = network.begin(request, into: self)
        let isUnwanted = lock.withLock {
            // The answer may have ended already, and the next attempt may have begun.
            guard case .beginning(number) = running else { return false }
            running = .ongoing(transfer)
            // The head may have ended the transfer, or it was cancelled meanwhile.
            return !machine.wantsAnswer
        }
        if isUnwanted { transfer.cancel() }
    }

    /// The running request; nil while the network has not returned it.
    private var ongoing: (any OngoingTransfer)? {
        lock.withLock { if case .ongoing(let transfer) = running { transfer } else { nil } }
    }
}
