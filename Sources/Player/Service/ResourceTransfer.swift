import Media
import Network
import Platform

/// What receives a resource. Called on the network's thread; `ended` is the last call, and comes once.
protocol ResourceReceiver: AnyObject, Sendable {
    /// The answer begins. Comes again after a retry when nothing of the body had arrived, and when it starts over.
    /// - Parameter length: of the whole resource in bytes, if the server says it.
    func began(_ head: ResponseHead, length: Int64?)
    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer
    func ended(_ failure: ResourceFailure?)
}

/// Receives one resource, or a range of it, with the service's retries (docs/playback.md, 15.4). A retry continues
/// behind the last byte that has arrived, if the server still has the same resource, or starts over.
///
/// Thread: any; the receiver is called on the network's.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class ResourceTransfer: TransferSink, OngoingTransfer, @unchecked Sendable {
    private enum State {
        case running(any OngoingTransfer)
        /// A retry is scheduled. The number tells it from one that was cancelled.
        case waiting(Int)
        case ended
    }

    /// What the head of the present answer means for its body.
    private enum Answer {
        /// Bytes of the resource, after so many that have arrived already.
        case content(skip: Int64)
        /// The reason of a refusal.
        case refusal(status: Int, retryAfter: Int64?, [UInt8])
        /// There is nothing at the range.
        case empty
        case changed
        /// It is not the part that was asked for: the whole is asked for instead.
        case otherPart
        /// A web page, where there are other addresses.
        case page(status: Int)
    }

    /// So often an optional resource is asked for again after a part of it has arrived.
    private static let optionalRetries = 2

    /// With so many bytes an address works.
    private static let gain = 64 << 10

    /// Of the reason of a refusal.
    private static let longestReason = 16 << 10

    private let network: any ServiceNetwork
    /// Of all that is wanted.
    private let request: TransferRequest
    /// Whether the whole resource is wanted, and it may be coded.
    private let mayBeCoded: Bool
    private let receiver: any ResourceReceiver
    private let lock = Lock()
    // Guarded by `lock`.
    private var state = State.waiting(0)
    private var isCancelled = false
    /// The answer that runs is of no use.
    private var isUnwanted = false
    // Of the network's thread.
    private var schedule: RetrySchedule
    private let purpose: RetrySchedule.Purpose
    private let continues: Bool
    private let addresses: ResourceAddresses?
    /// Of the present attempt, among the alternatives.
    private var place = 0
    /// The alternatives that have failed since all were asked, or since bytes have arrived.
    private var tried: [Int] = []
    /// In a row, of all alternatives together.
    private var failures = 0
    /// Bytes since another address was asked.
    private var gained = 0
    /// Whether an attempt has had another address: validators of two hosts are not compared.
    private var isElsewhere = false
    private var answer = Answer.changed
    private var arrived: Int64 = 0
    /// Whether the server is asked for the whole because it does not send the part.
    private var asksForWhole = false
    /// Whether the answer announces less than what was asked for.
    private var isShort = false
    /// Whether anything of the answer has arrived.
    private var hasCome = false
    /// Whether the answer goes on behind the last byte that was asked for, or may.
    private var isLong = false
    /// Bytes that the answer has announced with its range and not sent.
    private var owed: Int64 = 0
    /// The head of an answer whose first bytes are those of a whole body, until they come.
    private var unseen: ResponseHead?
    private var validator: String?
    /// Of what has arrived.
    private var version = ResourceVersion()
    /// Of bytes that came by other transfers.
    private let earlier: ResourceVersion
    private var attempts = 0
    private var patience = FirstBytePatience()
    /// Whether the log has the present failure.
    private var hasTold = false
    /// Shows waits to a status.
    private let progress: StreamProgress?
    private let progressID: Int

    /// Begins at once.
    /// - Parameters:
    ///   - offset: of the first byte that is wanted, in what the request names.
    ///   - version: the one that is wanted; another one ends as `.changed`.
    ///   - addresses: of the same bytes; nil for that of the request alone.
    ///   - continues: false for answers that the service makes for each request, such as addresses that expire: the end
    ///     of a second one does not belong to the beginning of the first.
    init(
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
        // There is nothing to load.
        if let range = self.request.range, range.upTo == range.from {
            network.schedule(after: 0) { [self] in finish(nil) }
        } else {
            attempt(0)
        }
    }

    /// Ends it; the receiver gets `.cancelled`, unless it has ended. Idempotent.
    func cancel() {
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

    /// The receiver, which had enough, wants more.
    func resume() {
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
            // In place of the one with which a part was asked for.
            request.headers.removeAll { $0.isNamed("If-Range") }
            if let validator { request.headers.append(HeaderField("If-Range", validator)) }
        }
        if asksForWhole {
            request.range = nil
            request.isReadInParts = !mayBeCoded
            request.headers.removeAll { $0.isNamed("If-Range") }
        }
        if let cookie = progress?.cookies.field(for: request.url) { request.headers.append(cookie) }
        // Not under the lock: the sink may be called before this has returned, and even be through.
        let transfer = network.begin(request, into: self)
        let isToEnd: Bool = lock.withLock {
            switch state {
            case .waiting(number): state = .running(transfer)
            case .waiting, .running: break
            // By its head.
            case .ended: return true
            }
            return isCancelled || isUnwanted
        }
        if isToEnd { transfer.cancel() }
    }

    /// nil for the one of the request.
    private var address: Alternatives.Address? { addresses.map { $0.alternatives.addresses[place] } }

    /// The first one that has not failed, or that has failed first.
    private func chooseAddress() {
        guard let addresses else { return }
        let all = addresses.alternatives.addresses
        let ranks = all.map { addresses.failed.rank($0) }
        guard let best = all.indices.filter({ !tried.contains($0) }).min(by: { ranks[$0] < ranks[$1] }) else { return }
        // What is known of the resource may have come from another one of them.
        if all.count > 1, arrived > 0 ? best != place : ranks.contains(where: { $0 > 0 }) { isElsewhere = true }
        if best != place { validator = nil }
        place = best
    }

    /// Goes on at another address, at once, as long as there is one that was not asked since the last success.
    /// - Parameter isOfHost: whether the host is the reason.
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

    /// Whether it is left to something else to play.
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

    /// At once: nothing has failed.
    private func askForWhole() {
        asksForWhole = true
        attempt(wait())
    }

    private func retry(after delay: Int64) {
        let number = wait()
        progress?.willRetry(progressID, after: .server(retryAfter: nil), delay: delay)
        network.waitForServer(atMost: delay) { [self] in attempt(number) }
    }

    /// At once when there is another link: what has failed on the old one says nothing about it.
    private func retryWithLink(after delay: Int64) {
        let number = wait()
        progress?.willRetry(progressID, after: .network, delay: delay)
        network.waitForLink(atMost: delay) { [self] end in
            if end == .linkChanged { schedule = RetrySchedule(purpose) }
            attempt(number)
        }
    }

    /// Once for each interruption: a person who hears nothing wants to know why.
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

    func began(_ head: ResponseHead) {
        progress?.cookies.take(head)
        answer = meaning(of: head)
        // The places of what is decoded are none of the server's.
        if head.isDecoded, case .content = answer { asksForWhole = true }
        isShort = isShort(head)
        hasCome = false
        isLong = isLong(head)
        owed = head.contentRange.map { $0.range.upperBound - $0.range.lowerBound } ?? 0
        unseen = (head.contentRange?.range.lowerBound ?? 0) == 0 ? head : nil
        // The body of something else may be long, and the bytes are waited for.
        if case .changed = answer { return finishAndCancel(.changed) }
        if case .otherPart = answer { return giveUpAnswer() }
        guard case .content = answer, arrived == 0 else { return }
        validator = head.strongValidator
        version = earlier.completed(by: ResourceVersion(head))
        receiver.began(head, length: head.resourceLength)
    }

    /// Ends the transfer that runs; `ended` goes on.
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

    /// Whether it is less than what was asked for (RFC 9110, 15.3.7).
    private func isShort(_ head: ResponseHead) -> Bool {
        guard let part = head.contentRange else { return false }
        return min(request.range?.upTo ?? .max, part.length ?? part.range.upperBound) > part.range.upperBound
    }

    /// Whether it is more than what was asked for, or does not say how much it is. A server may ignore the range, or
    /// only its end (RFC 9110, 14.2).
    private func isLong(_ head: ResponseHead) -> Bool {
        guard let end = request.range?.upTo else { return false }
        return end < head.contentRange?.range.upperBound ?? head.resourceLength ?? .max
    }

    /// Bytes of the range that have not arrived; `.max` without its end.
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
            // It begins earlier, or does not say where (RFC 9110, 15.3.7).
            let isBefore = head.rangeStart.map { $0 < start } ?? true
            return isBefore && !asksForWhole && (arrived > 0 ? version : earlier).mayInclude(head)
                ? .otherPart : .changed
        case 200, 203:
            // The server ignores ranges, or has something else now.
            return isSame(head) ? .content(skip: start) : .changed
        // A range with an end is one that a manifest or an index names, and one inside of the version that is wanted
        // has bytes: the file is another one.
        // A server counts the bytes of a body that it sends coded, and does not say how many there are decoded.
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

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
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
                    // A cache does not take it either.
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
            if purpose.forgetsFailures { schedule = RetrySchedule(purpose) }
            if attempts > 0 { progress?.goesOn(progressID) }
            hasTold = false
            worked(rest.count)
            // The rest of it is of no use, and may be much. An answer that ends here keeps its connection.
            if missing == 0, isLong {
                answer = .empty
                finishAndCancel(nil)
            }
            return .more
        case .empty, .changed, .otherPart, .page: return .more
        }
    }

    /// A few bytes before a cut are no reason to begin with all addresses again.
    private func worked(_ count: Int) {
        gained += count
        guard gained >= Self.gain else { return }
        (tried, failures) = ([], 0)
        if let addresses, let address { addresses.failed.succeeded(address) }
    }

    private func cancelAttempt() {
        if case .running(let transfer) = lock.withLock({ state }) { transfer.cancel() }
    }

    func ended(_ error: TransferError?) {
        // By its head, and what the cancelled transfer comes to is of no interest.
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
            // There is nothing to ask for.
            if case .content = answer, missing == 0 { return finish(nil) }
            if case .changed = answer, arrived > 0 { return finish(.changed) }
            if error == .tooLarge { return finish(.tooLarge) }
            if error.isOfCoding, mayBeCoded, !asksForWhole { return askForWhole() }
            if error.isOfAddress, goesToAnotherAddress(isOfHost: true) { return }
            if error.isOfAddress, givesWay(isOfHost: true) { return finish(.transfer(error)) }
            guard error.isOfNetwork, let delay = schedule.delay(after: .network) else {
                return finish(.transfer(error))
            }
            patience.failed(with: error)
            // Some servers close a connection that does not begin with TLS.
            let isPlain = error == .connection(.lost) && arrived == 0 && request.url.utf8.starts(with: "http:".utf8)
            tell(error.description + (isPlain ? " (if it speaks TLS, its address begins with https://)" : ""))
            return retryWithLink(after: delay)
        }
        if error == .cancelled { return finish(.cancelled) }
        if owed > 0 || isShort && !hasCome, case .content = answer { return ended(.truncated) }
        // All of a shorter part: the next part follows at once.
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
