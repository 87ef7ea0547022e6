import Network
import Platform

/// A transfer that the cache answers, or whose answer the cache stores.
///
/// Thread: network; `cancel` and `resume` any.
/// `@unchecked Sendable` is safe because only the network thread uses the mutable state.
final class CachedTransfer: TransferSink, OngoingTransfer, @unchecked Sendable {
    private enum Phase {
        case looking
        /// The answer has not begun.
        case asking(CacheDecision, CachedResponse?)
        /// The body is passed to the sink and to the recording.
        case passing(BodyRecording?)
        /// The body is passed to the cache, and from there to the sink, which has answered `.enough` before.
        case spooling(SpooledDelivery)
        /// The head of the answer says that the stored response is to be used; the body of the answer is ignored.
        case settling(CachedResponse)
        /// The head of the answer belongs to another version than the stored one: the request is repeated without the
        /// condition.
        case repeating
        case serving(StoredDelivery)
        /// The stored part is delivered first; the body of the answer waits. `failure` is the end of the transfer
        /// meanwhile.
        case resuming(StoredDelivery, BodyRecording?, failure: TransferError?)
        /// The answer neither continues the stored part nor contains the whole body.
        case refused
        case ended
    }

    private let request: TransferRequest
    private let sink: any TransferSink
    private let network: any ServiceNetwork
    private let store: CacheStore
    private let clock: any CertificateClock
    private let body: [UInt8]
    private let use: CacheUse
    private var phase = Phase.looking
    /// Whether the transfer resumes when the file of the recording is open.
    private var waitsForFile = false
    /// The number of bytes of the recorded body that the sink has taken.
    private var passed: Int64 = 0
    private var ongoing: (any OngoingTransfer)?
    private var isCancelled = false
    private var requested: Int64 = 0

    /// - Parameter body: the identity of the body if it is stored.
    init(
        _ request: TransferRequest, into sink: any TransferSink, _ network: any ServiceNetwork, _ store: CacheStore,
        _ use: CacheUse, clock: any CertificateClock, body: [UInt8]
    ) {
        self.use = use
        self.request = request
        self.sink = sink
        self.network = network
        self.store = store
        self.clock = clock
        self.body = body
    }

    func cancel() {
        network.schedule(after: 0) { [self] in
            isCancelled = true
            switch phase {
            case .serving(let delivery): delivery.stop()
            case .spooling(let delivery): delivery.stop()
            case .resuming(let delivery, let recording, _):
                delivery.stop()
                phase = .passing(recording)
            default: break
            }
            if let ongoing { ongoing.cancel() } else { finish(.cancelled) }
        }
    }

    func resume() {
        network.schedule(after: 0) { [self] in
            switch phase {
            case .serving(let delivery), .resuming(let delivery, _, _): delivery.resume()
            case .spooling(let delivery): delivery.resume()
            default: ongoing?.resume()
            }
        }
    }

    // MARK: The decision

    /// Begins the request with the answer of the index; nil when it has not answered in time. Later calls are ignored.
    func start(_ stored: CachedResponse?) {
        guard case .looking = phase else { return }
        let decision = CacheDecision(request, stored: stored, at: clock.now())
        guard decision == .serve, let stored else { return ask(decision, stored) }
        store.use(stored)
        serve(stored)
    }

    private func ask(_ decision: CacheDecision, _ stored: CachedResponse?) {
        var request = request
        switch decision {
        case .fetch, .pass, .serve: break
        case .revalidate(let fields, _): request.headers += fields
        case .resume(let count, let validator): request = request.rest(from: count, ifSame: validator)
        }
        phase = .asking(decision, stored)
        requested = clock.now().seconds
        let transfer = network.begin(request, into: self)
        // A sink may be called before this returns, and even be finished.
        if case .ended = phase { return }
        ongoing = transfer
    }

    private func serve(_ stored: CachedResponse) {
        let head = StoredHead(stored, of: request)
        sink.began(head.response)
        let delivery = StoredDelivery(
            store.body(of: stored), head.range, over: network, receive: { [sink] in sink.received($0) }
        ) { [self] isWhole in
            // The next attempt asks the network for the rest: the damaged body has been removed.
            finish(isWhole ? nil : .truncated)
        }
        phase = .serving(delivery)
        delivery.start()
    }

    private func finish(_ error: TransferError?) {
        if case .ended = phase { return }
        phase = .ended
        ongoing = nil
        sink.ended(error)
    }

    // MARK: The answer

    func began(_ head: ResponseHead) {
        guard case .asking(let decision, let stored) = phase else { return }
        switch decision {
        case .revalidate(_, let mayStandIn):
            guard let stored else { return pass(head) }
            switch CacheDecision.revalidation(head, of: stored, mayStandIn: mayStandIn) {
            case .holds:
                let fresh = stored.refreshed(by: head, requested: requested, received: clock.now().seconds)
                store.refresh(fresh)
                phase = .settling(fresh)
            case .standsIn: phase = .settling(stored)
            case .isReplaced: record(head)
            case .passes: pass(head)
            case .isOfAnother: phase = .repeating
            }
        case .resume(let count, _):
            guard let stored else { return record(head) }
            if head.continues(stored, at: count) { return continueBody(head, stored) }
            guard head.status == 206 || head.status == 416 else { return record(head) }
            // The sink did not ask for a range. The next attempt asks for the whole body.
            store.purge(stored)
            phase = .refused
            ongoing?.cancel()
        case .fetch: record(head)
        case .pass, .serve: pass(head)
        }
    }

    private func pass(_ head: ResponseHead) {
        phase = .passing(nil)
        sink.began(head)
    }

    private func record(_ head: ResponseHead) {
        // Without a length or chunks, a complete body cannot be distinguished from a cut one.
        let hasEnd = head.contentLength != nil || head.value(of: "transfer-encoding") != nil
        let response = CachedResponse(
            storing: head, of: request, body: body, requested: requested, received: clock.now().seconds)
        phase = .passing(hasEnd ? response.flatMap { begin($0, length: head.contentLength) } : nil)
        sink.began(head)
    }

    private func begin(_ response: CachedResponse, length: Int64?) -> BodyRecording? {
        if case .reading = use { return nil }
        return store.record(response, length: length)
    }

    private func continueBody(_ head: ResponseHead, _ stored: CachedResponse) {
        let length = head.contentRange?.length
        var response = stored.refreshed(by: head, requested: requested, received: clock.now().seconds)
        response.status = 200
        sink.began(StoredHead.whole(response, length: length, of: request))
        let delivery = StoredDelivery(
            store.body(of: stored), 0..<stored.count, over: network, receive: { [sink] in sink.received($0) }
        ) { [self] isWhole in
            partDelivered(isWhole)
        }
        passed = stored.count
        phase = .resuming(delivery, begin(response, length: length), failure: nil)
        delivery.start()
    }

    private func partDelivered(_ isWhole: Bool) {
        guard case .resuming(_, let recording, let failure) = phase else { return }
        if let failure { return finish(failure) }
        guard isWhole else {
            // The damaged body has been removed: the next attempt asks for the rest.
            let transfer = ongoing
            recording?.end(isComplete: false)
            finish(.truncated)
            transfer?.cancel()
            return
        }
        phase = .passing(recording)
        ongoing?.resume()
    }

    func received(_ bytes: UnsafeRawBufferPointer) -> SinkAnswer {
        switch phase {
        case .passing(let recording):
            if sink.received(bytes) == .more {
                recording?.append(copiedBytes(bytes))
                passed += Int64(bytes.count)
                return .more
            }
            guard let recording, use.mayReadAhead else { return .enough }
            if recording.isReadable { return spool(recording).append(bytes) }
            if recording.isOpening { resumeOnceOpen(recording) }
            return .enough
        case .spooling(let delivery): return delivery.append(bytes)
        case .resuming: return .enough
        default: return .more
        }
    }

    /// Resumes the transfer when the medium has opened the file. The same bytes are then delivered again.
    private func resumeOnceOpen(_ recording: BodyRecording) {
        guard !waitsForFile else { return }
        waitsForFile = true
        recording.afterWriting { [self] in
            network.schedule(after: 0) { [self] in
                waitsForFile = false
                ongoing?.resume()
            }
        }
    }

    /// Stores the rest of the body without waiting for the sink, which has answered `.enough`.
    private func spool(_ recording: BodyRecording) -> SpooledDelivery {
        let delivery = SpooledDelivery(
            recording, from: passed, over: network, receive: { [sink] in sink.received($0) },
            proceed: { [self] in ongoing?.resume() }
        ) { [self] error in
            let transfer = ongoing
            finish(error)
            transfer?.cancel()
        }
        phase = .spooling(delivery)
        return delivery
    }

    func ended(_ error: TransferError?) {
        switch phase {
        case .looking, .ended, .serving: return
        case .passing(let recording):
            recording?.end(isComplete: error == nil)
            finish(error)
        case .spooling(let delivery):
            ongoing = nil
            delivery.ended(error)
            if isCancelled { finish(.cancelled) }
        case .settling(let stored):
            ongoing = nil
            if isCancelled { finish(.cancelled) } else { serve(stored) }
        case .repeating:
            ongoing = nil
            // Scheduled, because `ask` may not have returned yet when its transfer ends.
            network.schedule(after: 0) { [self] in
                guard case .repeating = phase else { return }
                // Without a condition a 304 has no effect: this is the last attempt.
                if isCancelled { finish(.cancelled) } else { ask(.fetch, nil) }
            }
        case .asking(.revalidate(_, mayStandIn: true), let stored?) where error?.isOfNetwork ?? false:
            ongoing = nil
            serve(stored)
        // The server does not send the rest of the decoded body. The next attempt asks for the whole body.
        case .asking(.resume, let stored?) where error?.isOfCoding ?? false:
            store.purge(stored)
            finish(.truncated)
        case .asking: finish(error)
        case .refused: finish(isCancelled ? .cancelled : .truncated)
        case .resuming(let delivery, let recording, _):
            // The rest of the body cannot have been taken yet.
            ongoing = nil
            recording?.end(isComplete: false)
            phase = .resuming(delivery, nil, failure: error ?? .truncated)
        }
    }
}
