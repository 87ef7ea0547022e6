import CCurl
import CLinux
import Platform

/// A transfer in progress: what libcurl reports of it becomes calls of its sink. Thread: network.
final class RunningTransfer {
    /// How one request of the transfer ended.
    enum Outcome {
        case ended(TransferError?)
        /// A redirect: the same transfer goes on with its next request.
        case redirected
    }

    let transfer: Transfer
    let sink: any TransferSink
    var handle: EasyHandle
    /// What libcurl runs it on.
    var multi: MultiHandle?
    var deadline: PhaseDeadline
    var timer: (token: TimerToken, due: Int64)?
    /// Called when the deadline has changed other than by progress.
    private let deadlineChanged: (RunningTransfer) -> Void
    private let clock: any MonotonicClock
    private let request: TransferRequest
    private let settings: NetworkSettings
    private let verification: ServerVerification
    private var redirection: Redirection
    private var isRedirected = false
    private var head = HeadReader()
    private var hasBegun = false
    /// Bytes of the body that the sink has taken.
    private var bodyCount: Int64 = 0
    /// nil for a body that is not coded.
    private var coded: CodedBody?
    /// Bytes of a coded body as they came.
    private var codedCount: Int64 = 0
    private(set) var isPaused = false
    /// Why a callback ended the transfer.
    private var failure: TransferError?
    private var way: TransferWay

    /// Bytes that are taken from a connection at once. All transfers share one buffer of this size; more of it means
    /// fewer system calls on a fast line.
    private static let receiveSize = 65_536
    /// The body of a redirect that is read to keep its connection, in bytes.
    private static let redirectBodyLimit = 65_536

    init(
        _ request: TransferRequest, to address: WebAddress, _ transfer: Transfer, into sink: any TransferSink,
        handle: consuming EasyHandle, settings: NetworkSettings, verification: ServerVerification,
        clock: any MonotonicClock, peers: KnownPeers,
        deadlineChanged: @escaping (RunningTransfer) -> Void
    ) {
        self.request = request
        self.transfer = transfer
        self.sink = sink
        self.handle = handle
        self.settings = settings
        self.verification = verification
        self.clock = clock
        self.deadlineChanged = deadlineChanged
        deadline = PhaseDeadline(settings, firstByteTimeout: request.firstByteTimeout)
        redirection = Redirection(request, to: address)
        way = TransferWay(
            settings.links, proxy: settings.proxy, peers: peers, mayUseMeteredLink: request.mayUseMeteredLink)
    }

    // MARK: Requests

    /// What is the same for all requests of the transfer.
    func configure() {
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        handle.set(CURLOPT_USERAGENT, settings.userAgent)
        // An empty one also keeps libcurl from reading the variables of the environment.
        handle.set(CURLOPT_PROXY, settings.proxy ?? "")
        handle.set(CURLOPT_NOPROXY, "")
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        handle.set(CURLOPT_BUFFERSIZE, Self.receiveSize)
        // The limits of time are ours (`PhaseDeadline`), which tell the phases apart.
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        // Leaves a resolver thread behind when the transfer ends before it; joining one can take many seconds.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        handle.set(CURLOPT_CAPATH, nil)
        verification.apply(to: &handle)
        handle.setCallbacks(Self.callbacks, context: Unmanaged.passUnretained(self).toOpaque())
    }

    /// Prepares the request to the present address, the first one or that of a redirect.
    func prepareRequest() {
        (head, isRedirected, bodyCount) = (HeadReader(), false, 0)
        (coded, codedCount) = (nil, 0)
        way.begin(host: redirection.address.host)
        handle.set(CURLOPT_URL, redirection.address.text)
        let keys = settings.pinnedKeys(of: redirection.address.host)
        handle.set(CURLOPT_PINNEDPUBLICKEY, keys)
        // With TLS 1.3 a session of mbedTLS comes back without the certificate, which would fit no pin.
        // While the time is not known, a server whose certificate is refused later must not come back without it.
        handle.set(CURLOPT_SSL_SESSIONID_CACHE, keys == nil && settings.clock.now().isProved ? 1 : 0)
        var headers = redirection.headers
        if let range = request.range?.limited(to: request.longestPart).fieldValue {
            headers.append(HeaderField("Range", range))
        }
        handle.set(CURLOPT_HTTPGET, 1)
        switch redirection.method {
        case .get: break
        case .head: handle.set(CURLOPT_NOBODY, 1)
        case .post(let body, let contentType):
            handle.set(CURLOPT_POST, 1)
            handle.setBody(body)
            headers.append(HeaderField("Content-Type", contentType))
        }
        handle.setHeaders(headers)
        enter(.waiting)
    }

    /// libcurl has ended the request with `code`.
    func outcome(of code: CURLcode) -> Outcome {
        if let failure { return .ended(failure) }
        // How its body ended does not matter.
        if isRedirected { return .redirected }
        if code == CURLE_OK {
            if let coded, !coded.isComplete { return .ended(.truncated) }
            return .ended(hasBegun ? nil : .malformedAnswer)
        }
        if let refusal = way.refusal { return .ended(refusal) }
        return .ended(
            TransferError(
                code, of: handle, verifiedBy: verification, in: deadline.phase, isSecure: redirection.address.isSecure))
    }

    /// The sink wants more.
    func resume() {
        isPaused = false
        deadline.resume(at: clock.now())
        deadlineChanged(self)
    }

    /// Whether it has a connection, and the interface of that is still up. Without a connection it would wait for one
    /// that may never come.
    var hasLivingConnection: Bool {
        switch deadline.phase {
        case .waiting, .resolving, .connecting: false
        case .firstByte, .body: handle.text(CURLINFO_LOCAL_IP).map { tonearm_is_local_address($0) != 0 } ?? false
        }
    }

    var mayUseMeteredLink: Bool { request.mayUseMeteredLink }

    /// Whether its connection, or the ones that it tries, may stay after a change of the routes.
    var mayKeepItsRoute: Bool { way.isAllowedNow }

    private func enter(_ phase: TransferPhase) {
        deadline.enter(phase, at: clock.now())
        deadlineChanged(self)
    }

    private func fail(_ error: TransferError) -> Bool {
        if failure == nil { failure = error }
        return false
    }

    // MARK: What libcurl reports

    private static let callbacks = tonearm_curl_callbacks(
        header: { bytes, _, count, context in
            let line = UnsafeRawBufferPointer(start: bytes, count: count)
            return RunningTransfer.from(context).readHead(line) ? count : 0
        },
        body: { bytes, _, count, context in
            RunningTransfer.from(context).readBody(UnsafeRawBufferPointer(start: bytes, count: count))
        },
        resolving: { _, _, context in
            let transfer = RunningTransfer.from(context)
            transfer.enter(.resolving)
            guard let fault = transfer.way.lookUp() else { return 0 }
            _ = transfer.fail(fault)
            // Another number than 0 ends the transfer.
            return 1
        },
        connecting: { context, _, address in
            let transfer = RunningTransfer.from(context)
            transfer.enter(.connecting)
            guard let address else { return CURL_SOCKET_BAD }
            return transfer.way.openSocket(address)
        },
        connected: { context, address, _, port, _ in
            let transfer = RunningTransfer.from(context)
            transfer.enter(.firstByte)
            // Comes with every request, also on a connection that is open already.
            if transfer.way.isAllowed(address.map { String(cString: $0) }, port: Int(port)) {
                return CURL_PREREQFUNC_OK
            }
            _ = transfer.fail(.meteredLink)
            return CURL_PREREQFUNC_ABORT
        })

    /// The transfer that libcurl means; it lives as long as its handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> RunningTransfer {
        Unmanaged<RunningTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// - Returns: whether the transfer goes on.
    private func readHead(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !transfer.isCancelled else { return fail(.cancelled) }
        if deadline.phase == .body { deadline.progress(at: clock.now()) } else { enter(.body) }
        // After the body of a chunked response come fields that nobody asked for.
        guard !hasBegun, !isRedirected else { return true }
        switch head.append(line) {
        case .more, .interim: return true
        case .tooLarge: return fail(.headTooLarge)
        case .malformed: return fail(.malformedAnswer)
        case .complete: return begin()
        }
    }

    private func begin() -> Bool {
        let response = ResponseHead(
            head, effectiveURL: redirection.address.text, isVerifiedTLS: redirection.address.isSecure,
            now: settings.clock.now().seconds)
        if response.isVerifiedTLS {
            switch verification.judge(date: response.dateWithAge) {
            case .nothing: break
            case .proves(let date): settings.clock.serverProves(date)
            case .refuses(let failure): return fail(.tls(failure))
            }
        }
        do throws(RedirectFailure) {
            isRedirected = try redirection.follow(status: response.status, location: response.value(of: "location"))
        } catch {
            return fail(.redirect(error))
        }
        if isRedirected { return true }
        if let limit = request.maximumBody, redirection.method != .head, response.contentLength ?? 0 > limit {
            return fail(.tooLarge)
        }
        do throws(CodingFailure) { coded = try coding(of: response).map { CodedBody($0) } } catch {
            return fail(.coding(error))
        }
        hasBegun = true
        sink.began(coded == nil ? response : response.decoded)
        return true
    }

    /// How the body is coded for which the sink waits; nil when it is not, or there is none.
    private func coding(of response: ResponseHead) throws(CodingFailure) -> ContentCoding? {
        if redirection.method == .head || response.status == 204 || response.status == 304 { return nil }
        // Of an error, the reason is read if it can be.
        if response.status >= 400 { return try? ContentCoding(of: response) }
        guard let coding = try ContentCoding(of: response) else { return nil }
        guard request.range == nil, !request.isReadInParts, response.status != 206 else {
            throw .ofPart(coding: coding.name)
        }
        return coding
    }

    /// - Returns: what libcurl takes from CURLOPT_WRITEFUNCTION: how many bytes were taken; fewer end the transfer.
    private func readBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !transfer.isCancelled else { return fail(.cancelled) ? bytes.count : 0 }
        deadline.progress(at: clock.now())
        if isRedirected {
            bodyCount += Int64(bytes.count)
            return bodyCount <= Self.redirectBodyLimit ? bytes.count : 0
        }
        return coded == nil ? deliver(bytes) : decode(bytes)
    }

    /// As `readBody`.
    private func decode(_ piece: UnsafeRawBufferPointer) -> Int {
        while let step = coded?.next(of: piece) {
            switch step {
            case .output(let bytes):
                let answer = bytes.withUnsafeBytes { deliver($0) }
                guard answer == bytes.count else { return answer }
                coded?.take()
            case .used:
                // Data without an end may decode to nothing.
                codedCount += Int64(piece.count)
                if codedCount > request.maximumBody ?? .max { return fail(.tooLarge) ? piece.count : 0 }
                return piece.count
            case .damaged: return fail(.coding(.damaged(coding: coded?.coding.name ?? ""))) ? piece.count : 0
            }
        }
        return piece.count
    }

    /// As `readBody`, for bytes that are not coded.
    private func deliver(_ bytes: UnsafeRawBufferPointer) -> Int {
        let (total, overflow) = bodyCount.addingReportingOverflow(Int64(bytes.count))
        if overflow || total > request.maximumBody ?? .max { return fail(.tooLarge) ? bytes.count : 0 }
        switch sink.received(bytes) {
        case .more:
            bodyCount = total
            return bytes.count
        case .enough:
            isPaused = true
            deadline.pause()
            deadlineChanged(self)
            return Int(CURL_WRITEFUNC_PAUSE)
        }
    }
}
