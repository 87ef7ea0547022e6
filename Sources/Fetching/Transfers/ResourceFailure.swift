import Media
import Network

/// Why a resource of the service did not arrive, after all retries.
public enum ResourceFailure: Error, Equatable, Sendable {
    case cancelled
    /// The answer is a refusal, or does not come from the service (`ServiceRefusal.isForeign`).
    case refused(ServiceRefusal)
    /// The server now has another resource than the one of which a part has arrived.
    case changed
    /// The resource is larger than permitted.
    case tooLarge
    /// A failure that waiting does not change: a certificate, an address, an answer that is not HTTP.
    case transfer(TransferError)

    /// The error for the layers above.
    package var byteSourceError: ByteSourceError {
        switch self {
        case .cancelled: .cancelled
        case .refused(let refusal) where refusal.isForeign:
            .foreign(status: refusal.status, reason: ServiceRefusal.foreignReason(refusal.status))
        case .refused(let refusal): .status(refusal.status)
        case .changed: .integrity(reason: "it has changed on the server while it was read")
        case .tooLarge: .integrity(reason: "it is larger than expected")
        case .transfer(let error): error.byteSourceError
        }
    }
}

extension TransferError {
    /// The error for the layers above. A network error is reported only for failures of the network, so that users look
    /// for the cause in the right place.
    package var byteSourceError: ByteSourceError {
        switch self {
        case .nameResolution, .connection, .proxy, .timeOut, .truncated: .network(reason: description)
        case .tls: isOfNetwork ? .network(reason: description) : .tls(reason: description)
        case .malformedAnswer, .headTooLarge, .redirect, .library, .webSocket, .localAddress:
            .foreign(status: nil, reason: description)
        case .invalidRequest: .unusable(reason: description)
        // A third party applied a coding that was not requested.
        case .coding(.unknown): .foreign(status: nil, reason: description)
        case .coding(.ofPart): .unusable(reason: description)
        case .coding(.damaged): .integrity(reason: description)
        case .tooLarge: ResourceFailure.tooLarge.byteSourceError
        case .meteredLink: .meteredLink
        case .offlineMode: .offlineMode
        case .cancelled: .cancelled
        }
    }

    /// Whether a part was requested of a resource that the server has only as a whole (`Content-Encoding`).
    var isOfCoding: Bool { if case .coding(.ofPart) = self { true } else { false } }

    /// Whether another address of the same bytes may help.
    var isOfAddress: Bool {
        switch self {
        case .nameResolution, .connection, .timeOut, .truncated, .proxy, .tls, .invalidRequest, .malformedAnswer,
            .headTooLarge, .redirect, .coding, .webSocket, .localAddress:
            true
        case .tooLarge, .cancelled, .library, .meteredLink, .offlineMode: false
        }
    }

    /// Whether the network is the cause, so that the same request may succeed later (docs/playback.md, 15.4).
    package var isOfNetwork: Bool {
        switch self {
        // A proxy that requires a login requires it each time.
        case .proxy(status: 407): false
        case .nameResolution, .connection, .timeOut, .truncated, .proxy: true
        // A cut connection during the handshake is the network's fault. A certificate is not, nor are unsupported TLS
        // parameters.
        case .tls(.handshake(_, let isFinal)): !isFinal
        case .tls, .invalidRequest, .malformedAnswer, .headTooLarge, .coding, .tooLarge, .redirect, .cancelled,
            .library, .webSocket, .localAddress:
            false
        // The engine waits for another link, or for the end of offline mode.
        case .meteredLink, .offlineMode: false
        }
    }
}
