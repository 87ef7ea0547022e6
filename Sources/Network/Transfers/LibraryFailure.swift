import CCurl
import CLinux

// What libcurl's numbers mean to the caller of a transfer.

extension TransferError {
    /// - Parameter phase: what the transfer waited for.
    init(_ code: CURLcode, of handle: borrowing EasyHandle, in phase: TransferPhase) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .nameResolution
        case CURLE_COULDNT_RESOLVE_PROXY: self = .proxy(status: nil)
        case CURLE_COULDNT_CONNECT: self = .connection(ConnectionFailure(errno: handle.number(CURLINFO_OS_ERRNO)))
        case CURLE_OPERATION_TIMEDOUT: self = .timeOut(phase)
        case CURLE_PARTIAL_FILE: self = .truncated
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            let status = handle.number(CURLINFO_HTTP_CONNECTCODE)
            // The answer of a proxy to CONNECT; nothing else has been received then.
            let isRefused = phase == .connecting && status != 0 && status / 100 != 2
            self = isRefused ? .proxy(status: status) : .connection(.lost)
        // A status line or a header that is none, and HTTP/0.9, which has no status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING: self = .malformedAnswer
        // A line that is longer than libcurl's own limit (100 kB) in 7.88, where no other part of a head needs memory.
        case CURLE_OUT_OF_MEMORY where phase == .body || phase == .firstByte: self = .headTooLarge
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: self = .tls(.pin)
        case CURLE_PEER_FAILED_VERIFICATION: self = .tls(TLSFailure(of: handle))
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER: self = .tls(.handshake(reason: handle.message(for: code)))
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

extension TLSFailure {
    /// Why a certificate was refused: libcurl has the code of its TLS library, and says in words what it checks itself.
    init(of handle: borrowing EasyHandle) {
        let reason = handle.message(for: CURLE_PEER_FAILED_VERIFICATION)
        // <openssl/x509_vfy.h>
        switch handle.number(CURLINFO_SSL_VERIFYRESULT) {
        case 9: self = .notYetValid
        case 10: self = .expired
        // No issuer, a signature of another one, self-signed, or an authority that is not trusted.
        case 2, 18, 19, 20, 21, 27: self = .unknownAuthority
        // libcurl compares the names itself, before it asks for this code: it is still the one for "unspecified".
        case 1: self = .hostName
        default: self = .certificate(reason: reason)
        }
    }
}
