import Media
import Network
import Platform

/// Receives a resource. Called on the network's thread; `ended` is the last call and happens once.
package protocol ResourceReceiver: AnyObject, Sendable {
    /// The answer begins. Called again after a retry when no byte of the body had arrived, and when the transfer starts
    /// over.
    /// - Parameter length: of the whole resource in bytes; nil when the server does not send it.
    func began(_ head: ResponseHead, length: Int64?)
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
    func ended(_ failure: ResourceFailure?)
}

/// Receives one resource, or a range of it, with the service's retries (docs/playback.md, 15.4). A retry continues
/// after the last byte that has arrived, if the server still has the same resource. Otherwise it starts over.
///
/// Thread: any; the receiver is called on the network's thread.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class ResourceTransfer: TransferSink, OngoingTransfer, @unchecked Sendable {
    private enum State {
        case running(any OngoingTransfer)
        /// A retry is scheduled. The number distinguishes it from a cancelled one.
        case waiting(Int)
        case ended
    }

    /// The meaning of the current answer's head for its body.
    private enum Answer {
        /// Bytes of the resource, after `skip` bytes that have arrived already.
        case content(skip: Int64)
        /// A refusal, with its reason as far as it has arrived.
        case refusal(status: Int, retryAfter: Int64?, [UInt8])
        /// The resource has no bytes in the range.
        case empty
        case changed
        /// The answer is not the requested part: the whole resource is requested instead.
        case otherPart
        /// A web page, while other addresses are left.
        case page(status: Int)
    }

    /// The minimum number of retries of an optional resource after a part of it has arrived.
    private static let optionalRetries = 2

    /// An address that has delivered this many bytes works.
    private static let gain = 64 << 10

    /// The longest reason of a refusal that is read, in bytes.
    private static let longestReason = 16 << 10

    private let network: any ServiceNetwork
    /// The request for everything that is wanted.
    private let request: TransferRequest
    /// Whether the whole resource is wanted, so that the server may use a content coding.
    private let mayBeCoded: Bool
    private let receiver: any ResourceReceiver
    private let lock = Lock()
    // Guarded by `lock`.
    private var state = State.waiting(0)
    private var isCancelled = false
    /// Whether the running answer is useless.
    private var isUnwanted = false
    // Used only by the network's thread.
    private var schedule: RetrySchedule
    private var purpose: RetrySchedule.Purpose
    private let continues: Bool
    private let addresses: ResourceAddresses?
    /// The address of the current attempt, as an index of the alternatives.
    private var place = 0
    /// The alternatives that have failed since all were tried, or since bytes have arrived.
    private var tried: [Int] = []
    /// The number of consecutive failures, of all alternatives together.
    private var failures = 0
    /// The number of bytes since the last change of the address.
    private var gained = 0
    /// Whether attempts have used different addresses: validators of two hosts are not compared.
    private var isElsewhere = false
    private var answer = Answer.changed
    private var arrived: Int64 = 0
    /// Whether the whole resource is requested because the server does not send the part.
    private var asksForWhole = false
    /// Whether the answer announces less than the requested range.
    private var isShort = false
    /// Whether any byte of the answer has arrived.
    private var hasCome = false
    /// Whether the answer is longer than the requested range, or may be.
    private var isLong = false
    /// Bytes that the answer has announced with its range and not sent yet.
    private var owed: Int64 = 0
    /// The head of an answer that begins with the first byte of the resource, until that byte arrives.
    private var unseen: ResponseHead?
    private var validator: String?
    /// Whether the answer is internet radio: after an interruption there is no rest.
    private var isRadio = false
    /// The version of the bytes that have arrived.
    private var version = ResourceVersion()
    /// The version of bytes that arrived in other transfers.
    private let earlier: ResourceVersion
    private var attempts = 0
    private var patience = FirstBytePatience()
    /// Whether the current failure has been logged.
    private var hasTold = false
    /// Publishes waits in a status.
    private let progress: StreamProgress?
    private let progressID: Int

    /// Begins the first attempt.
    /// - Parameters:
    ///   - offset: of the first wanted byte, relative to the request's range.
    ///   - version: the wanted version; another one ends as `.changed`.
    ///   - addresses: of the same bytes; nil for the address of the request alone.
    ///   - continues: false for answers that the service makes for each request, for example with addresses that
    ///     expire. The end of one answer does not fit the beginning of another.
    package init(
        _ request: TransferRequest, from offset: Int64 = 0, of version: ResourceVersion = ResourceVersion(),
        over network: any ServiceNetwork, for purpose: RetrySchedule.Purpose = .playback, continues: Bool = true,
        at addresses: ResourceAddresses? = nil, progress: StreamProgress? = nil, into receiver: any ResourceReceiver
    ) {
        earlier = version
        self.continues = continues
        self.addresses = addresses
        self.progress = progress
        progressID = progress?.newID() ?? 0
        self.network = network
        mayBeCoded = request.range == nil && !request.isReadInParts
        self.request = request.rest(from: offset)
        self.receiver = receiver
        self.purpose = purpose
        schedule = RetrySchedule(purpose)
        // An empty range needs no request.
        if let range = self.request.range, range.upTo == range.from {
            network.schedule(after: 0) { [self] in finish(nil) }
        } else {
            attempt(0)
        }
    }

    /// Cancels the transfer; the receiver gets `.cancelled`, unless it has ended. Idempotent.
    package func cancel() {
        let ongoing: (any OngoingTransfer)? = lock.withLock {
            isCancelled = true
            if case .running(let transfer) = state { return transfer }
            return nil
        }
        if let ongoing { return ongoing.cancel() }
        network.schedule(after: 0) { [self] in
            guard case .waiting = lock.withLock({ state }) else { return }
            finish(.cancelled)
        }
    }

    /// Delivers again after the receiver has answered `.enough`.
    package func resume() {
        if case .running(let transfer) = lock.withLock({ state }) { transfer.resume() }
    }

    // MARK: Attempts

    private func attempt(_ number: Int) {
        guard case .waiting(number) = lock.withLock({ state }) else { return }
        if lock.withLock({ isCancelled }) { return finish(.cancelled) }
        var request = request
        chooseAddress()
        if let address { request.url = address.url }
        request.firstByteTimeout = patience.milliseconds
        if !continues { (arrived, validator) = (0, nil) }
        if arrived > 0 {
            request.longestPart = nil
            let start = request.range?.from ?? 0
            request.range = ByteRange(from: start + arrived, upTo: request.range?.upTo)
            // Replaces the `If-Range` field of the original request.
            request.headers.removeAll { $0.isNamed("If-Range") }
            if let validator { request.headers.append(HeaderField("If-Range", validator)) }
        }
        if asksForWhole {
            request.range = nil
            request.isReadInParts = !mayBeCoded
            request.headers.removeAll { $0.isNamed("If-Range") }
        }
        if let cookie = progress?.cookies.field(for: request.url) { request.headers.append(cookie) }
        // Not under the lock: the sink may be called before this returns, and even be finished.
        let transfer = network.begin(request, into: self)
        let isToEnd: Bool = lock.withLock {
            switch state {
            case .waiting(number): state = .running(transfer)
            case .waiting, .running: break
            // The head of the answer has ended the transfer.
            case .ended: return true
            }
            return isCancelled || isUnwanted
        }
        if isToEnd { transfer.cancel() }
    }

    /// The address of the current attempt; nil for the address of the request.
    private var address: Alternatives.Address? { addresses.map { $0.alternatives.addresses[place] } }

    /// Selects the first address that has not failed, or else the one that failed longest ago.
    private func chooseAddress() {
        guard let addresses else { return }
        let all = addresses.alternatives.addresses
        let ranks = all.map { addresses.failed.rank($0) }
        guard let best = all.indices.filter({ !tried.contains($0) }).min(by: { ranks[$0] < ranks[$1] }) else { return }
        // The known properties of the resource may come from another address.
        if all.count > 1, arrived > 0 ? best != place : ranks.contains(where: { $0 > 0 }) { isElsewhere = true }
        if best != place { validator = nil }
        place = best
    }

    /// Continues at another address without a delay, if one is left that was not tried since the last success.
    /// - Parameter isOfHost: whether the host is the cause.
    private func goesToAnotherAddress(isOfHost: Bool) -> Bool {
        guard let addresses, let address, addresses.alternatives.addresses.count > 1 else { return false }
        addresses.failed.add(address, isOfHost: isOfHost)
        tried.append(place)
        gained = 0
        guard tried.count < addresses.alternatives.addresses.count else {
            tried = []
            return false
        }
        isElsewhere = true
        attempt(wait())
        return true
    }

    /// Returns whether to give up, because something else can be played.
    private func givesWay(isOfHost: Bool) -> Bool {
        guard let retries = addresses?.retries else { return false }
        failures += 1
        guard failures > (arrived > 0 ? max(retries, Self.optionalRetries) : retries) else { return false }
        if let addresses, let address { addresses.failed.add(address, isOfHost: isOfHost) }
        return true
    }

    private func wait() -> Int {
        attempts += 1
        let number = attempts
        lock.withLock {
            state = .waiting(number)
            isUnwanted = false
        }
        return number
    }

    /// Begins an attempt for the whole resource without a delay, because nothing has failed.
    private func askForWhole() {
        asksForWhole = true
        attempt(wait())
    }

    private func retry(after delay: Int64) {
        let number = wait()
        progress?.willRetry(progressID, after: .server(retryAfter: nil), delay: delay)
        network.waitForServer(atMost: delay) { [self] in attempt(number) }
    }

    /// Begins an attempt after the delay, or as soon as the link changes: failures of the old link say nothing about
    /// the new one.
    private func retryWithLink(after delay: Int64) {
        let number = wait()
        progress?.willRetry(progressID, after: .network, delay: delay)
        network.waitForLink(atMost: delay) { [self] end in
            if end == .linkChanged { schedule = RetrySchedule(purpose) }
            attempt(number)
        }
    }

    /// Logs the reason once per interruption, so that users can find out why they hear nothing.
    private func tell(_ reason: String) {
        guard !hasTold else { return }
        hasTold = true
        Log.warning("\(TransferRequest(url: address?.url ?? request.url).host): \(reason). It is retried.")
    }

    private func finish(_ failure: ResourceFailure?) {
        let isOver = lock.withLock {
            if case .ended = state { return true }
            state = .ended
            return false
        }
        progress?.goesOn(progressID)
        if !isOver, failure == nil, let addresses, let address { addresses.failed.succeeded(address) }
        if !isOver { receiver.ended(failure) }
    }

    // MARK: The answer

    package func began(_ head: ResponseHead) {
        progress?.cookies.take(head)
        answer = meaning(of: head)
        // Ranges of a decoded body are unknown to the server.
        if head.isDecoded, case .content = answer { asksForWhole = true }
        isShort = isShort(head)
        hasCome = false
        isLong = isLong(head)
        owed = head.contentRange.map { $0.range.upperBound - $0.range.lowerBound } ?? 0
        unseen = (head.contentRange?.range.lowerBound ?? 0) == 0 ? head : nil
        // Does not wait for the body of something else, which may be long.
        if case .changed = answer { return finishAndCancel(.changed) }
        if case .otherPart = answer { return giveUpAnswer() }
        guard case .content = answer, arrived == 0 else { return }
        validator = head.strongValidator
        isRadio = head.headers.contains { $0.name.utf8.prefix(4).map { $0 | 0x20 }.elementsEqual("icy-".utf8) }
        version = earlier.completed(by: ResourceVersion(head))
        receiver.began(head, length: head.resourceLength)
    }

    /// Cancels the running transfer; `ended` then continues.
    private func giveUpAnswer() {
        let ongoing: (any OngoingTransfer)? = lock.withLock {
            isUnwanted = true
            if case .running(let transfer) = state { return transfer }
            return nil
        }
        ongoing?.cancel()
    }

    private func finishAndCancel(_ failure: ResourceFailure?) {
        let state = lock.withLock { self.state }
        finish(failure)
        if case .running(let transfer) = state { transfer.cancel() }
    }

    /// Returns whether the answer is shorter than the requested range (RFC 9110, 15.3.7).
    private func isShort(_ head: ResponseHead) -> Bool {
        guard let part = head.contentRange else { return false }
        return min(request.range?.upTo ?? .max, part.length ?? part.range.upperBound) > part.range.upperBound
    }

    /// Returns whether the answer is longer than the requested range, or has an unknown length. A server may ignore the
    /// range, or only its end (RFC 9110, 14.2).
    private func isLong(_ head: ResponseHead) -> Bool {
        guard let end = request.range?.upTo else { return false }
        return end < head.contentRange?.range.upperBound ?? head.resourceLength ?? .max
    }

    /// The number of bytes of the range that have not arrived; `.max` for a range without an end.
    private var missing: Int64 {
        guard let range = request.range, let end = range.upTo else { return .max }
        return end - range.from - arrived
    }

    private func meaning(of head: ResponseHead) -> Answer {
        let start = (request.range?.from ?? 0) + arrived
        switch head.status {
        case 206:
            guard head.rangeStart != start || asksForWhole else {
                return isSame(head) ? .content(skip: 0) : .changed
            }
            // The part begins earlier, or does not say where it begins (RFC 9110, 15.3.7).
            let isBefore = head.rangeStart.map { $0 < start } ?? true
            return isBefore && !asksForWhole && (arrived > 0 ? version : earlier).mayInclude(head)
                ? .otherPart : .changed
        case 200, 203:
            // The server ignores ranges, or has another resource now.
            return isSame(head) ? .content(skip: start) : .changed
        // A refused range that has an end, or lies inside the wanted version, shows that the file has changed. A
        // manifest or an index named its end, so it should have bytes.
        //
        // For a coded body the server counts the coded bytes, and does not send the number of decoded ones.
        case 416 where mayBeCoded && !asksForWhole && start > 0 && earlier.length == nil && version.length == nil:
            return .otherPart
        case 416 where arrived == 0:
            let isInside = earlier.length.map { start < $0 } ?? false
            return request.range?.upTo == nil && !isInside ? .empty : .changed
        case 200..<300: return .changed
        default: return .refusal(status: head.status, retryAfter: head.retryAfter, [])
        }
    }

    private func isSame(_ head: ResponseHead) -> Bool {
        if isElsewhere { return (arrived > 0 ? version : earlier).hasLength(of: head) }
        guard (arrived > 0 ? version : earlier).mayInclude(head) else { return false }
        guard arrived > 0, let validator else { return true }
        return head.strongValidator.map { $0.utf8.elementsEqual(validator.utf8) } ?? false
    }

    package func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        switch answer {
        case .refusal(let status, let retryAfter, var body):
            answer = .empty
            body.append(contentsOf: bytes.prefix(Self.longestReason - body.count))
            answer = .refusal(status: status, retryAfter: retryAfter, body)
            return .more
        case .content(let skip):
            if let head = unseen {
                unseen = nil
                if WebPage.isMeant(by: head, bytes) {
                    if let addresses, tried.count + 1 < addresses.alternatives.addresses.count {
                        answer = .page(status: head.status)
                        cancelAttempt()
                        return .enough
                    }
                    finishAndCancel(.refused(ServiceRefusal(status: head.status)))
                    // The cache must not store the page either.
                    return .enough
                }
            }
            let skipped = Int(min(skip, Int64(bytes.count)))
            let rest = UnsafeRawBufferPointer(rebasing: bytes[skipped...].prefix(Int(clamping: missing)))
            if rest.isEmpty {
                answer = .content(skip: skip - Int64(skipped))
                return .more
            }
            guard receiver.received(rest) == .more else { return .enough }
            answer = .content(skip: 0)
            arrived += Int64(rest.count)
            hasCome = true
            owed -= Int64(bytes.count)
            purpose = purpose.onArrival
            if purpose.forgetsFailures { schedule = RetrySchedule(purpose) }
            if attempts > 0 { progress?.goesOn(progressID) }
            hasTold = false
            worked(rest.count)
            // The rest is useless and may be long. An answer that ends here keeps its connection.
            if missing == 0, isLong {
                answer = .empty
                finishAndCancel(nil)
            }
            return .more
        case .empty, .changed, .otherPart, .page: return .more
        }
    }

    /// Forgets earlier failures once an address works. A few bytes before a cut do not count.
    private func worked(_ count: Int) {
        gained += count
        guard gained >= Self.gain else { return }
        (tried, failures) = ([], 0)
        if let addresses, let address { addresses.failed.succeeded(address) }
    }

    private func cancelAttempt() {
        if case .running(let transfer) = lock.withLock({ state }) { transfer.cancel() }
    }

    package func ended(_ error: TransferError?) {
        // The head has ended this transfer, and the result of the cancelled request does not matter.
        if case .ended = lock.withLock({ state }) { return }
        if case .otherPart = answer, error == nil || error == .cancelled, !lock.withLock({ isCancelled }) {
            return askForWhole()
        }
        if case .page(let status) = answer, !lock.withLock({ isCancelled }) {
            answer = .empty
            if !goesToAnotherAddress(isOfHost: false) { finish(.refused(ServiceRefusal(status: status))) }
            return
        }
        if let error, error != .cancelled {
            // An empty rest needs no request.
            if case .content = answer, missing == 0 { return finish(nil) }
            if case .changed = answer, arrived > 0 { return finish(.changed) }
            if error == .tooLarge { return finish(.tooLarge) }
            if error.isOfCoding, mayBeCoded, !asksForWhole { return askForWhole() }
            if error.isOfAddress, goesToAnotherAddress(isOfHost: true) { return }
            if error.isOfAddress, givesWay(isOfHost: true) { return finish(.transfer(error)) }
            guard error.isOfNetwork, !isRadio || arrived == 0, let delay = schedule.delay(after: .network) else {
                return finish(.transfer(error))
            }
            if purpose != .opening { patience.failed(with: error) }
            // Some servers close a connection that does not begin with TLS.
            let isPlain = error == .connection(.lost) && arrived == 0 && request.url.utf8.starts(with: "http:".utf8)
            tell(error.description + (isPlain ? " (if it speaks TLS, its address begins with https://)" : ""))
            return retryWithLink(after: delay)
        }
        if error == .cancelled { return finish(.cancelled) }
        if owed > 0 || isShort && !hasCome, case .content = answer { return ended(.truncated) }
        // The whole of a shorter part has arrived: request the next part without a delay.
        if isShort, case .content = answer { return attempt(wait()) }
        switch answer {
        case .content, .empty, .page: finish(nil)
        case .changed, .otherPart: finish(.changed)
        case .refusal(let status, let retryAfter, let body):
            if goesToAnotherAddress(isOfHost: false) { return }
            let refusal = ServiceRefusal(status: status, body: body)
            if givesWay(isOfHost: false) { return finish(.refused(refusal)) }
            guard ServiceRefusal.isTemporary(status),
                let delay = schedule.delay(after: .server(retryAfter: retryAfter))
            else { return finish(.refused(refusal)) }
            tell("the server answers with status \(status)")
            retry(after: delay)
        }
    }
}
