import CCurl
import CLinux
import Platform

/// A transfer in progress. Translates libcurl's callbacks into calls of its sink. Thread: network.
final class RunningTransfer {
    /// How one request of the transfer ended.
    enum Outcome {
        case ended(TransferError?)
        /// A redirect: the same transfer continues with its next request.
        case redirected
    }

    let transfer: Transfer
    let sink: any TransferSink
    var handle: EasyHandle
    /// The libcurl handle that runs the transfer.
    var multi: MultiHandle?
    var deadline: PhaseDeadline
    var timer: (token: TimerToken, due: Int64)?
    /// Called when the deadline has changed, except by progress.
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
    /// nil for a body without a coding.
    private var coded: CodedBody?
    /// The number of received bytes of a coded body.
    private var codedCount: Int64 = 0
    private(set) var isPaused = false
    /// Why a callback ended the transfer.
    private var failure: TransferError?
    private var way: TransferWay

    /// How many bytes are read from a connection at once. All transfers share one buffer of this size; a larger one
    /// saves system calls on a fast link.
    private static let receiveSize = 65_536
    /// How much of a redirect's body is read to reuse its connection, in bytes.
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

    /// Sets the options that all requests of the transfer share.
    func configure() {
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        handle.set(CURLOPT_USERAGENT, settings.userAgent)
        // An empty text also prevents libcurl from reading environment variables.
        handle.set(CURLOPT_PROXY, settings.proxy ?? "")
        handle.set(CURLOPT_NOPROXY, "")
        handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        handle.set(CURLOPT_BUFFERSIZE, Self.receiveSize)
        // `PhaseDeadline` limits the time instead, separately for each phase.
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        // When the transfer ends first, its resolver thread continues alone: joining it can take many seconds.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        handle.set(CURLOPT_CAPATH, nil)
        verification.apply(to: &handle)
        handle.setCallbacks(Self.callbacks, context: Unmanaged.passUnretained(self).toOpaque())
    }

    /// Prepares the request to the current address, the first one or that of a redirect.
    func prepareRequest() {
        (head, isRedirected, bodyCount) = (HeadReader(), false, 0)
        (coded, codedCount) = (nil, 0)
        way.begin(host: redirection.address.host)
        handle.set(CURLOPT_URL, redirection.address.text)
        let keys = settings.pinnedKeys(of: redirection.address.host)
        handle.set(CURLOPT_PINNEDPUBLICKEY, keys)
        // With TLS 1.3 mbedTLS resumes a session without the certificate, so that no pin could match. While the time is
        // not proved, a server whose certificate is refused later must not resume a session without it.
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

    /// Returns how the request has ended, from libcurl's code.
    func outcome(of code: CURLcode) -> Outcome {
        if let failure { return .ended(failure) }
        // Errors in the body of a redirect do not matter.
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

    /// Continues after a pause of the sink.
    func resume() {
        isPaused = false
        deadline.resume(at: clock.now())
        deadlineChanged(self)
    }

    /// Whether the transfer has a connection over an interface that is still up. Without a connection it might wait for
    /// ever.
    var hasLivingConnection: Bool {
        switch deadline.phase {
        case .waiting, .resolving, .connecting: false
        case .firstByte, .body: handle.text(CURLINFO_LOCAL_IP).map { tonearm_is_local_address($0) != 0 } ?? false
        }
    }

    var mayUseMeteredLink: Bool { request.mayUseMeteredLink }

    /// Whether its connection, or the addresses that it tries, may stay after a change of the routes.
    var mayKeepItsRoute: Bool { way.isAllowedNow }

    private func enter(_ phase: TransferPhase) {
        deadline.enter(phase, at: clock.now())
        deadlineChanged(self)
    }

    private func fail(_ error: TransferError) -> Bool {
        if failure == nil { failure = error }
        return false
    }

    // MARK: Callbacks of libcurl

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
            // Any number except 0 ends the transfer.
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
            // Called for every request, even on an open connection.
            if transfer.way.isAllowed(address.map { String(cString: $0) }, port: Int(port)) {
                return CURL_PREREQFUNC_OK
            }
            _ = transfer.fail(.meteredLink)
            return CURL_PREREQFUNC_ABORT
        })

    /// Returns the transfer of a callback's context; it lives as long as its handle.
    static func from(_ context: UnsafeMutableRawPointer?) -> RunningTransfer {
        Unmanaged<RunningTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// - Returns: whether the transfer continues.
    private func readHead(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !transfer.isCancelled else { return fail(.cancelled) }
        if deadline.phase == .body { deadline.progress(at: clock.now()) } else { enter(.body) }
        // A chunked body may be followed by trailer fields, which are ignored.
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

    /// Returns the coding of the body that the sink gets; nil without a coding or a body.
    private func coding(of response: ResponseHead) throws(CodingFailure) -> ContentCoding? {
        if redirection.method == .head || response.status == 204 || response.status == 304 { return nil }
        // The body of an error is decoded if possible, for its reason.
        if response.status >= 400 { return try? ContentCoding(of: response) }
        guard let coding = try ContentCoding(of: response) else { return nil }
        guard request.range == nil, !request.isReadInParts, response.status != 206 else {
            throw .ofPart(coding: coding.name)
        }
        return coding
    }

    /// - Returns: the result of CURLOPT_WRITEFUNCTION: how many bytes were taken; fewer end the transfer.
    private func readBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard !transfer.isCancelled else { return fail(.cancelled) ? bytes.count : 0 }
        deadline.progress(at: clock.now())
        if isRedirected {
            bodyCount += Int64(bytes.count)
            return bodyCount <= Self.redirectBodyLimit ? bytes.count : 0
        }
        return coded == nil ? deliver(bytes) : decode(bytes)
    }

    /// Decodes and delivers bytes; returns the same as `readBody`.
    private func decode(_ piece: UnsafeRawBufferPointer) -> Int {
        while let step = coded?.next(of: piece) {
            switch step {
            case .output(let bytes):
                let answer = bytes.withUnsafeBytes { deliver($0) }
                guard answer == bytes.count else { return answer }
                coded?.take()
            case .used:
                // Limits the coded size too, because endless data may decode to nothing.
                codedCount += Int64(piece.count)
                if codedCount > request.maximumBody ?? .max { return fail(.tooLarge) ? piece.count : 0 }
                return piece.count
            case .damaged: return fail(.coding(.damaged(coding: coded?.coding.name ?? ""))) ? piece.count : 0
            }
        }
        return piece.count
    }

    /// Delivers decoded bytes; returns the same as `readBody`.
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
