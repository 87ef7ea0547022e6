import CCurl
import CLinux

// Translates libcurl's errors for the caller of a transfer.

extension TransferError {
    /// - Parameters:
    ///   - phase: the phase in which the transfer failed.
    ///   - isSecure: whether its address is https.
    init(
        _ code: CURLcode, of handle: borrowing EasyHandle, verifiedBy verification: ServerVerification,
        in phase: TransferPhase, isSecure: Bool
    ) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .nameResolution
        case CURLE_COULDNT_RESOLVE_PROXY: self = .proxy(status: nil)
        case CURLE_COULDNT_CONNECT: self = .connection(ConnectionFailure(errno: handle.number(CURLINFO_OS_ERRNO)))
        case CURLE_OPERATION_TIMEDOUT: self = .timeOut(phase)
        case CURLE_PARTIAL_FILE: self = .truncated
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            let status = handle.number(CURLINFO_HTTP_CONNECTCODE)
            // The answer of a proxy to CONNECT; nothing else was received in that case.
            let isRefused = phase == .connecting && status != 0 && status / 100 != 2
            if isRefused {
                self = .proxy(status: status)
            } else if isSecure, let failure = TLSFailure(afterHandshake: handle.message(for: code)) {
                self = .tls(failure)
            } else if handle.number(CURLINFO_OS_ERRNO) == Int(ETIMEDOUT) {
                self = .timeOut(phase)
            } else {
                self = .connection(phase == .firstByte && !isSecure ? .unanswered : .lost)
            }
        // An invalid status line or header, and HTTP/0.9, which has no status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING: self = .malformedAnswer
        // A line that is longer than the limit of libcurl 7.88 (100 kB), where no other part of a head needs memory.
        case CURLE_OUT_OF_MEMORY where phase == .body || phase == .firstByte: self = .headTooLarge
        // CURLE_TOO_LARGE means the same from 8.6 on.
        case CURLcode(rawValue: 100): self = .headTooLarge
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self = .tls(.pin)
        // No certificate of an authority is known.
        case CURLE_SSL_CACERT_BADFILE: self = .tls(.unknownAuthority)
        case CURLE_PEER_FAILED_VERIFICATION: self = .tls(verification.failure(of: handle))
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CLIENTCERT:
            self = .tls(TLSFailure(handshake: handle.message(for: code)))
        default: self = .library(code: Int(code.rawValue), reason: handle.message(for: code))
        }
    }
}

extension ConnectionFailure {
    init(errno: Int) {
        switch Int32(clamping: errno) {
        case ECONNREFUSED: self = .refused
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL: self = .unreachable
        case ECONNRESET, ECONNABORTED, EPIPE: self = .lost
        default: self = .system(code: errno)
        }
    }
}
