import CCurl
import CLinux
import Platform

/// A connection to a server, for the requests of one transfer or for one WebSocket: libcurl's handle with the options
/// that all share, the permitted way, the verification of the server, and the time limits.
///
/// Thread: network.
final class ServerConnection {
    var handle: EasyHandle
    /// The libcurl handle that runs this one.
    private(set) var multi: MultiHandle?
    /// Why a callback has ended the request.
    private(set) var failure: TransferError?
    private let settings: NetworkSettings
    private let verification: ServerVerification
    private var way: TransferWay
    private var deadline: PhaseDeadline
    private let loop: EventLoop
    private var timer: (token: TimerToken, due: Int64)?
    /// Called when a phase takes too long.
    private let timedOut: (TransferPhase) -> Void

    init(
        _ handle: consuming EasyHandle, settings: NetworkSettings, verification: ServerVerification, way: TransferWay,
        firstByteTimeout: Int? = nil, longestSilence: Int? = nil, on loop: EventLoop,
        timedOut: @escaping (TransferPhase) -> Void
    ) {
        self.handle = handle
        self.settings = settings
        self.verification = verification
        self.way = way
        self.loop = loop
        self.timedOut = timedOut
        deadline = PhaseDeadline(
            settings, firstByteTimeout: firstByteTimeout, longestSilence: longestSilence)
    }

    // MARK: Requests

    /// Sets the options that all requests share.
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
        // `PhaseDeadline` limits the time instead, separately for each phase.
        handle.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        // If the transfer ends first, its resolver thread continues alone, because joining it can take many seconds.
        handle.set(CURLOPT_QUICK_EXIT, 1)
        handle.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        handle.set(CURLOPT_SSL_VERIFYPEER, 1)
        handle.set(CURLOPT_SSL_VERIFYHOST, 2)
        handle.set(CURLOPT_CAPATH, nil)
        verification.apply(to: &handle)
        handle.setCallbacks(Self.callbacks, context: Unmanaged.passUnretained(self).toOpaque())
    }

    /// Prepares a request to this address, the first one or that of a redirect.
    func prepare(for address: WebAddress) {
        way.begin(host: address.host)
        handle.set(CURLOPT_URL, address.text)
        let keys = settings.pinnedKeys(of: address.host)
        handle.set(CURLOPT_PINNEDPUBLICKEY, keys)
        // With TLS 1.3 mbedTLS resumes a session without the certificate, so that no pin could match. While the time is
        // not proved, a server whose certificate is refused later must not resume a session without it.
        handle.set(CURLOPT_SSL_SESSIONID_CACHE, keys == nil && settings.clock.now().isProved ? 1 : 0)
    }

    /// Starts the prepared request.
    /// - Returns: why it cannot start.
    func start(on multi: MultiHandle) -> TransferError? {
        enter(.waiting)
        self.multi = multi
        let code = multi.add(&handle)
        let refusal = handle.refusal
        if refusal != CURLE_OK {
            return .library(code: Int(refusal.rawValue), reason: String(cString: curl_easy_strerror(refusal)))
        }
        return code == CURLM_OK ? nil : .outOfMemory
    }

    /// Ends the request, in any state. Idempotent.
    func stop() { multi?.remove(handle) }

    /// Ends the request and the time limit. Idempotent.
    func end() {
        stop()
        if let timer { loop.cancel(timer.token) }
        timer = nil
    }

    /// Returns why the request failed, from libcurl's code.
    func error(_ code: CURLcode, isSecure: Bool) -> TransferError {
        failure ?? way.refusal
            ?? TransferError(code, of: handle, verifiedBy: verification, in: deadline.phase, isSecure: isSecure)
    }

    /// Records why a callback ends the request.
    /// - Returns: false.
    func fail(_ error: TransferError) -> Bool {
        if failure == nil { failure = error }
        return false
    }

    /// Judges the server's certificates by the date of its first response, while the time is not proved.
    /// - Returns: why the server is refused; nil when it is not.
    func judge(_ response: ResponseHead) -> TransferError? {
        let date = response.dateWithAge
        switch response.isVerifiedTLS ? verification.judge(date: date) : .nothing {
        case .nothing: if let date { settings.clock.serverReports(date) }
        case .proves(let date): settings.clock.serverProves(date)
        case .refuses(let failure): return .tls(failure)
        }
        return nil
    }

    // MARK: Links

    /// Whether the connection uses an interface that is still up. Without a connection the request might wait for ever.
    var isAlive: Bool {
        switch deadline.phase {
        case .waiting, .resolving, .connecting: false
        case .firstByte, .body: handle.text(CURLINFO_LOCAL_IP).map { tonearm_is_local_address($0) != 0 } ?? false
        }
    }

    /// The time from the last request to its first byte, in nanoseconds; nil before that byte.
    var firstByteDelay: Int64? { deadline.firstByteDelay }

    /// Whether the connection, or the addresses that are tried, may stay after a change of the routes.
    var mayKeepItsRoute: Bool { way.isAllowedNow }

    // MARK: Time limits

    /// Records bytes of the response.
    func progress() {
        if deadline.phase == .body { deadline.progress(at: loop.now) } else { enter(.body) }
    }

    /// Stops the time limit of the response.
    func pause() {
        deadline.pause()
        rearm()
    }

    func resume() {
        deadline.resume(at: loop.now)
        rearm()
    }

    private func enter(_ phase: TransferPhase) {
        deadline.enter(phase, at: loop.now)
        rearm()
    }

    /// Ensures that a timer fires at the deadline or before. Every byte moves the deadline; the timer checks that when
    /// it fires.
    private func rearm() {
        guard let deadline = deadline.deadline else { return }
        if let timer {
            if timer.due <= deadline { return }
            loop.cancel(timer.token)
        }
        let token = loop.schedule(after: deadline - loop.now) { [self] in look() }
        timer = (token, deadline)
    }

    private func look() {
        timer = nil
        guard let due = deadline.deadline else { return }
        if loop.now < due { return rearm() }
        timedOut(deadline.phase)
    }

    // MARK: Callbacks of libcurl

    private static let callbacks = tonearm_curl_callbacks(
        resolving: { _, _, context in
            let connection = ServerConnection.from(context)
            connection.enter(.resolving)
            guard let fault = connection.way.lookUp() else { return 0 }
            _ = connection.fail(fault)
            // Any number except 0 ends the request.
            return 1
        },
        connecting: { context, _, address in
            let connection = ServerConnection.from(context)
            connection.enter(.connecting)
            guard let address else { return CURL_SOCKET_BAD }
            let socket = connection.way.openSocket(address)
            if socket >= 0 { tonearm_limit_unanswered(socket, Int32(clamping: connection.settings.firstByteTimeout)) }
            return socket
        },
        connected: { context, address, _, port, _ in
            let connection = ServerConnection.from(context)
            connection.enter(.firstByte)
            // Called for every request, even on an open connection.
            guard let fault = connection.way.fault(of: address.map { String(cString: $0) }, port: Int(port)) else {
                return CURL_PREREQFUNC_OK
            }
            _ = connection.fail(fault)
            return CURL_PREREQFUNC_ABORT
        })

    /// Returns the connection of a callback's context; it lives as long as its handle.
    private static func from(_ context: UnsafeMutableRawPointer?) -> ServerConnection {
        Unmanaged<ServerConnection>.fromOpaque(context!).takeUnretainedValue()
    }
}

extension TransferError {
    static var outOfMemory: TransferError {
        .library(code: Int(CURLE_OUT_OF_MEMORY.rawValue), reason: "out of memory")
    }
}
