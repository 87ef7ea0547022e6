import Media
import Network

/// Why a resource of the service did not arrive, after all retries.
enum ResourceFailure: Error, Equatable, Sendable {
    case cancelled
    /// The answer is a refusal, or another answer than one of the service (`ServiceRefusal.isForeign`).
    case refused(ServiceRefusal)
    /// It is not the resource any more of which a part has arrived.
    case changed
    /// Larger than it may be.
    case tooLarge
    /// What waiting does not change: a certificate, an address, an answer that is not HTTP.
    case transfer(TransferError)

    /// For the containers above.
    var byteSourceError: ByteSourceError {
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
    /// For the containers above. Not every transfer that fails is the network's: a person who is told so looks for the
    /// fault in the wrong place.
    var byteSourceError: ByteSourceError {
        switch self {
        case .nameResolution, .connection, .proxy, .timeOut, .truncated: .network(reason: description)
        case .tls: isOfNetwork ? .network(reason: description) : .tls(reason: description)
        case .malformedAnswer, .headTooLarge, .redirect, .library: .foreign(status: nil, reason: description)
        case .invalidRequest: .unusable(reason: description)
        // Something on the way codes what nobody asked for.
        case .coding(.unknown): .foreign(status: nil, reason: description)
        case .coding(.ofPart): .unusable(reason: description)
        case .coding(.damaged): .integrity(reason: description)
        case .tooLarge: ResourceFailure.tooLarge.byteSourceError
        case .meteredLink: .meteredLink
        case .offlineMode: .offlineMode
        case .cancelled: .cancelled
        }
    }

    /// Whether a part was asked for of what the server has as a whole alone (`Content-Encoding`).
    var isOfCoding: Bool { if case .coding(.ofPart) = self { true } else { false } }

    /// Whether another address of the same bytes may help.
    var isOfAddress: Bool {
        switch self {
        case .nameResolution, .connection, .timeOut, .truncated, .proxy, .tls, .invalidRequest, .malformedAnswer,
            .headTooLarge, .redirect, .coding:
            true
        case .tooLarge, .cancelled, .library, .meteredLink, .offlineMode: false
        }
    }

    /// Whether the network is the reason, so that the same request may succeed later (docs/playback.md, 15.4).
    var isOfNetwork: Bool {
        switch self {
        // A proxy that asks for a login asks for it each time.
        case .proxy(status: 407): false
        case .nameResolution, .connection, .timeOut, .truncated, .proxy: true
        // A connection that is cut while TLS begins is one. A certificate is not, nor a server that wants other TLS.
        case .tls(.handshake(_, let isFinal)): !isFinal
        case .tls, .invalidRequest, .malformedAnswer, .headTooLarge, .coding, .tooLarge, .redirect, .cancelled,
            .library:
            false
        // The engine waits for another link, or for the end of offline mode.
        case .meteredLink, .offlineMode: false
        }
    }
}
