import Manifests
import Media
import Network

/// Decides how a resource of the service is received: which request is sent, which bytes of the answer are wanted, what
/// is retried and when (docs/playback.md, 15.4, 15.15 and 15.16).
///
///     var machine = TransferMachine(bytes, addresses, retries)
///     machine.handle(.started)                          // [.attempt]
///     machine.handle(.attemptBegins(ranks: []))         // [.request(…)]
///     machine.handle(.headArrived(head))                // [.begin(head, length: 100)]
///     machine.receive(bytes)                            // .wanted(0..<30), then `taken`
///     machine.handle(.answerEnded(.connection(.lost)))  // [.log(…), .waitForLink(atMost: 500_000_000)]
///     machine.handle(.attemptBegins(ranks: []))         // [.request(…)], from byte 30 on
///
/// A value: no clock, no network and no lock. One request runs at a time. The last effect is `.end`, once.
struct TransferMachine {
    private enum State {
        /// No request runs: the next attempt begins now, or after a wait.
        case waiting
        /// The request is sent, and the answer has not begun.
        case requesting
        case content(ContentAnswer)
        /// An error, with its reason as far as it has arrived.
        case refusal(status: Int, retryAfter: Int64?, reason: [UInt8])
        /// The resource has no bytes in the range.
        case empty
        /// The answer is given up. Then the whole resource is requested.
        case otherPart
        /// The answer is a web page, and is given up. Then another address is requested.
        case page(status: Int)
        case over
    }

    /// The longest reason of a refusal that is read, in bytes.
    private static let longestReason = 16 << 10

    private var state = State.waiting
    private var isCancelled = false
    private var bytes: RequestedBytes
    private var addresses: AddressChoice
    private var retries: TransferRetries
    /// Why another address has failed since all were tried, besides a metered link.
    private var otherFailure: TransferError?

    init(_ bytes: RequestedBytes, _ addresses: AddressChoice, _ retries: TransferRetries) {
        (self.bytes, self.addresses, self.retries) = (bytes, addresses, retries)
    }

    /// Whether the answer of the running request is of use.
    var wantsAnswer: Bool {
        switch state {
        case .requesting, .content, .refusal, .empty: !isCancelled
        case .waiting, .otherPart, .page, .over: false
        }
    }

    mutating func handle(_ event: Event) -> [Effect] {
        switch event {
        // An empty range needs no request. It ends later, so that the receiver is not called too early.
        case .started: return [bytes.isEmpty ? .waitForTurn : .attempt]
        case .attemptBegins(let ranks): return begin(ranks)
        case .headArrived(let head): return read(head)
        case .answerEnded(let error): return end(error)
        case .linkChanged:
            retries.linkChanged()
            return [.attempt]
        case .cancelled:
            isCancelled = true
            switch state {
            case .waiting: return [.waitForTurn]
            case .over: return []
            case .requesting, .content, .refusal, .empty, .otherPart, .page: return [.cancelRequest]
            }
        }
    }

    // MARK: Attempts

    private mutating func begin(_ ranks: [Int]) -> [Effect] {
        guard case .waiting = state else { return [] }
        if bytes.isEmpty { return finish(nil) }
        if isCancelled { return finish(.cancelled) }
        let change = addresses.begin(ranks: ranks, hasBytes: bytes.arrived > 0)
        if change.mixesHosts { bytes.mixHosts() }
        if change.isOtherAddress { bytes.changeAddress() }
        state = .requesting
        return [.request(bytes.nextRequest(at: addresses.current?.url, firstByteTimeout: retries.firstByteTimeout))]
    }

    /// Begins another attempt without a delay.
    private mutating func attemptAgain() -> [Effect] {
        state = .waiting
        retries.beginAnother()
        return [.attempt]
    }

    /// Begins an attempt for the whole resource without a delay, because nothing has failed.
    private mutating func requestWhole() -> [Effect] {
        bytes.requestWhole()
        return attemptAgain()
    }

    /// Begins another attempt after `wait`, and logs the reason.
    private mutating func retry(after wait: Effect, because reason: String) -> [Effect] {
        // The cancellation has met a request that had ended already.
        if isCancelled { return finish(.cancelled) }
        state = .waiting
        retries.beginAnother()
        guard retries.isWorthLogging() else { return [wait] }
        let host = TransferRequest(url: addresses.current?.url ?? bytes.request.url).host
        return [.log("\(host): \(reason). It is retried."), wait]
    }

    private mutating func finish(_ failure: ResourceFailure?) -> [Effect] {
        state = .over
        if failure == nil, let address = addresses.current { return [.addressWorks(address), .end(nil)] }
        return [.end(failure)]
    }

    // MARK: The answer

    private mutating func read(_ head: ResponseHead) -> [Effect] {
        guard case .requesting = state else { return [] }
        switch bytes.meaning(of: head) {
        case .refusal: state = .refusal(status: head.status, retryAfter: head.retryAfter, reason: [])
        case .empty: state = .empty
        // The body of something else may be long: it is not waited for.
        case .changed: return finish(.changed) + [.cancelRequest]
        case .otherPart:
            state = .otherPart
            return [.cancelRequest]
        case .content(let skip):
            // Ranges of a decoded body are unknown to the server.
            if head.isDecoded { bytes.requestWhole() }
            state = .content(
                ContentAnswer(head, skip: skip, of: bytes.request.range, isMedia: bytes.request.isMedia))
            guard bytes.arrived == 0 else { return [] }
            bytes.begin(head)
            return [.begin(head, length: head.resourceLength)]
        }
        return []
    }

    /// Decides about the next bytes of the body. It allocates nothing for wanted bytes.
    mutating func receive(_ piece: UnsafeRawBufferPointer) -> Arrival {
        switch state {
        case .refusal(let status, let retryAfter, var reason):
            // Another owner of the reason would copy it.
            state = .empty
            reason.append(contentsOf: piece.prefix(Self.longestReason - reason.count))
            state = .refusal(status: status, retryAfter: retryAfter, reason: reason)
            return .ignored
        case .content(var answer):
            if answer.isPage(piece) { return .refused(refusePage(of: answer)) }
            let wanted = answer.wanted(of: piece.count, missing: bytes.missing)
            state = .content(answer)
            return wanted.isEmpty ? .ignored : .wanted(wanted)
        case .waiting, .requesting, .empty, .otherPart, .page, .over: return .ignored
        }
    }

    private mutating func refusePage(of answer: ContentAnswer) -> [Effect] {
        guard addresses.isAnotherLeft else {
            return finish(.refused(ServiceRefusal(status: answer.status))) + [.cancelRequest]
        }
        state = .page(status: answer.status)
        return [.cancelRequest]
    }

    /// Notes that the receiver has taken the wanted part of a piece. Without this call the same bytes are delivered
    /// again later.
    /// - Parameters:
    ///   - wanted: the part, as `receive` has returned it.
    ///   - count: the length of the piece.
    mutating func taken(_ wanted: Range<Int>, of count: Int) -> Taken {
        guard case .content(var answer) = state else { return Taken() }
        answer.arrive(count)
        state = .content(answer)
        bytes.arrive(wanted.count)
        retries.arrive()
        var taken = Taken(endsWait: retries.hasBegun)
        if addresses.arrive(wanted.count) { taken.workingAddress = addresses.current }
        // The rest is useless and may be long. An answer that ends here keeps its connection.
        if bytes.missing == 0, answer.isLong { taken.effects = finish(nil) + [.cancelRequest] }
        return taken
    }

    // MARK: The end of an answer

    private mutating func end(_ error: TransferError?) -> [Effect] {
        switch state {
        case .over, .waiting: return []
        case .otherPart where !isCancelled && (error == nil || error == .cancelled): return requestWhole()
        case .page(let status) where !isCancelled:
            let failure = ResourceFailure.refused(ServiceRefusal(status: status))
            var effects: [Effect] = []
            return leavesAddress(after: failure, isOfHost: false, &effects) ? effects : effects + finish(failure)
        case .requesting, .content, .refusal, .empty, .otherPart, .page: break
        }
        guard let error else { return complete() }
        return error == .cancelled ? finish(.cancelled) : fail(error)
    }

    /// Handles an answer that has ended as its server wanted.
    private mutating func complete() -> [Effect] {
        switch state {
        case .content(let answer):
            if answer.isCut { return fail(.truncated) }
            // The whole of a shorter part has arrived: request the next part without a delay.
            return answer.isShort ? attemptAgain() : finish(nil)
        case .empty, .page: return finish(nil)
        case .refusal(let status, let retryAfter, let reason):
            return refuse(ServiceRefusal(status: status, body: reason), retryAfter)
        case .requesting: return finish(.transfer(.malformedAnswer))
        case .otherPart, .waiting, .over: return finish(.changed)
        }
    }

    private mutating func refuse(_ refusal: ServiceRefusal, _ retryAfter: Int64?) -> [Effect] {
        var effects: [Effect] = []
        if leavesAddress(after: .refused(refusal), isOfHost: false, &effects) { return effects }
        guard let delay = retries.delay(afterStatus: refusal.status, retryAfter: retryAfter) else {
            return effects + finish(.refused(refusal))
        }
        let reason = "the server answers with status \(refusal.status)"
        return effects + retry(after: .waitForServer(atMost: delay), because: reason)
    }

    /// Handles an answer that is missing or incomplete.
    private mutating func fail(_ error: TransferError) -> [Effect] {
        // An empty rest needs no request.
        if case .content = state, bytes.missing == 0 { return finish(nil) }
        if error == .tooLarge { return finish(.tooLarge) }
        if error.isOfCoding, bytes.mayNeedWhole { return requestWhole() }
        var effects: [Effect] = []
        // Another address may be reached over another link.
        if error.isOfAddress || error == .meteredLink && addresses.hasAlternatives {
            if leavesAddress(after: .transfer(error), isOfHost: true, &effects) {
                if error != .meteredLink { otherFailure = error }
                return effects
            }
        }
        // Waits for another link only when no address is retried.
        let error = error == .meteredLink ? otherFailure ?? error : error
        otherFailure = nil
        guard bytes.hasRest, let delay = retries.delay(after: error) else {
            return effects + finish(.transfer(error))
        }
        return effects + retry(after: .waitForLink(atMost: delay), because: error.description)
    }

    /// Counts a failure of the current address. Another address, if one is left, is requested without a delay. An
    /// optional resource gives way after some rounds.
    /// - Parameter isOfHost: whether the host is the cause.
    /// - Returns: whether the effects decide what is next. Otherwise the failure is retried, or is the end.
    private mutating func leavesAddress(
        after failure: ResourceFailure, isOfHost: Bool, _ effects: inout [Effect]
    ) -> Bool {
        guard let address = addresses.current else { return false }
        if addresses.hasAlternatives {
            effects.append(.addressFailed(address, isOfHost: isOfHost))
            if addresses.turn() {
                bytes.mixHosts()
                effects += attemptAgain()
                return true
            }
        }
        guard addresses.givesWay(hasBytes: bytes.arrived > 0) else { return false }
        effects.append(.addressFailed(address, isOfHost: isOfHost))
        effects += finish(failure)
        return true
    }
}
