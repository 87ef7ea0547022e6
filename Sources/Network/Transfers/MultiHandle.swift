import CCurl
import Platform

/// libcurl's transfers on an event loop: its multi-socket interface requests the descriptors and the time to wait for.
///
/// Thread: network. The loop retains it until `close`.
final class MultiHandle {
    private let raw: UnsafeMutableRawPointer
    private let share: UnsafeMutableRawPointer
    private let loop: EventLoop
    /// Called after transfers have ended, outside of libcurl's calls.
    private let ended: (UnsafeMutableRawPointer, CURLcode) -> Void
    private var timer: TimerToken?
    private var watched: Set<Int32> = []
    private var isClosed = false

    /// Returns nil without memory.
    init?(
        on loop: EventLoop, maximumConnectionsPerHost: Int, maximumIdleConnections: Int,
        ended: @escaping (UnsafeMutableRawPointer, CURLcode) -> Void
    ) {
        guard let raw = curl_multi_init() else { return nil }
        guard let share = tonearm_curl_share_sessions() else {
            curl_multi_cleanup(raw)
            return nil
        }
        self.raw = raw
        self.share = share
        self.loop = loop
        self.ended = ended
        tonearm_curl_multi_set_number(raw, CURLMOPT_MAX_HOST_CONNECTIONS, maximumConnectionsPerHost)
        tonearm_curl_multi_set_number(raw, CURLMOPT_MAXCONNECTS, maximumIdleConnections)
        tonearm_curl_multi_set_callbacks(
            raw,
            { _, descriptor, event, context, _ in
                MultiHandle.from(context).watch(descriptor, event)
                return 0
            },
            { _, milliseconds, context in
                MultiHandle.from(context).arm(milliseconds)
                return 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MultiHandle {
        Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Starts a transfer. It shares its TLS sessions with the others.
    func add(_ transfer: inout EasyHandle) -> CURLMcode {
        transfer.setShare(share)
        return curl_multi_add_handle(raw, transfer.raw)
    }

    /// Ends a transfer in any state. Idempotent.
    func remove(_ transfer: borrowing EasyHandle) { curl_multi_remove_handle(raw, transfer.raw) }

    /// Delivers the bytes that a transfer's sink did not take.
    /// - Returns: the end of the transfer, when it is not `CURLE_OK`: libcurl does not report it to `ended`.
    func unpause(_ transfer: borrowing EasyHandle) -> CURLcode { curl_easy_pause(transfer.raw, 0) }

    /// Closes all connections. Every transfer must have been removed.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        curl_multi_cleanup(raw)
        curl_share_cleanup(share)
        if let timer { loop.cancel(timer) }
        for descriptor in watched { loop.unwatch(descriptor) }
    }

    // MARK: Requests of libcurl

    private func watch(_ descriptor: Int32, _ event: Int32) {
        // libcurl may have closed the descriptor and opened another one with the same number, which is new for
        // epoll(7).
        loop.unwatch(descriptor)
        watched.remove(descriptor)
        var readiness: Readiness = []
        switch event {
        case CURL_POLL_IN: readiness = .readable
        case CURL_POLL_OUT: readiness = .writable
        case CURL_POLL_INOUT: readiness = [.readable, .writable]
        default: return
        }
        watched.insert(descriptor)
        do throws(SystemError) {
            try loop.watch(descriptor, for: readiness) { [self] in proceed(descriptor, $0) }
        } catch {
            // The kernel has no memory left. The time limit of the transfer ends it.
            Log.warning("network: \(error)")
        }
    }

    private func arm(_ milliseconds: Int) {
        if let timer { loop.cancel(timer) }
        timer = nil
        guard milliseconds >= 0, !isClosed else { return }
        timer = loop.schedule(after: Int64(milliseconds) * 1_000_000) { [self] in
            timer = nil
            proceed(CURL_SOCKET_BAD, [])
        }
    }

    private func proceed(_ descriptor: Int32, _ readiness: Readiness) {
        // libcurl detects errors of a descriptor itself.
        var events: Int32 = 0
        if readiness.contains(.readable) { events |= CURL_CSELECT_IN }
        if readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
        var running: Int32 = 0
        curl_multi_socket_action(raw, descriptor, events, &running)
        reap()
    }

    private func reap() {
        var code = CURLE_OK
        while !isClosed, let transfer = tonearm_curl_multi_ended(raw, &code) { ended(transfer, code) }
    }
}
