import Platform

/// Why a transfer has no complete response. A status such as 404 is not an error here: it is in the head.
public enum TransferError: Error, Equatable, Sendable {
    /// The request is invalid, and nothing was sent.
    case invalidRequest(InvalidRequest)
    /// The host's name has no address, or no name server answers.
    case nameResolution
    /// No connection was made, or it was lost.
    case connection(ConnectionFailure)
    /// The proxy refused to connect, with this status; nil when its name has no address.
    case proxy(status: Int?)
    case tls(TLSFailure)
    case timeOut(TransferPhase)
    /// The answer is not HTTP; for the next case, its head is larger than `HeadReader` allows.
    case malformedAnswer
    case headTooLarge
    /// The connection ended before the body did.
    case truncated
    /// The coded body cannot be used.
    case coding(CodingFailure)
    /// The body is larger than `TransferRequest.maximumBody`, possibly only after decoding.
    case tooLarge
    case redirect(RedirectFailure)
    /// The server breaks the protocol of WebSockets.
    case webSocket(WebSocketFault)
    /// The transfer may not use a metered link (`TransferRequest.mayUseMeteredLink`), and there is no other way.
    case meteredLink
    /// The server's name or a redirect leads into this network (`TransferRequest.localHosts`).
    case localAddress
    /// `Network.setOfflineMode`: nothing may use the network.
    case offlineMode
    /// `Transfer.cancel` or `Network.stop` was called.
    case cancelled
    /// Another error of libcurl, with its number and message.
    case library(code: Int, reason: String)
}

public enum InvalidRequest: Equatable, Sendable {
    /// The text is not an address, is neither http nor https, or has a user name.
    case url
    /// A field whose value would end its line, or with an invalid name.
    case header(name: String)
    case range
}

public enum ConnectionFailure: Equatable, Sendable {
    /// Nothing listens at the address.
    case refused
    /// There is no route: the network is down, or the address belongs to another network.
    case unreachable
    /// The connection was reset or closed before the response was complete.
    case lost
    /// A connection without TLS was reset or closed before the first byte of the response.
    case unanswered
    /// Another reason: errno, or 0.
    case system(code: Int)
}

public enum TLSFailure: Equatable, Sendable {
    /// No known authority has signed the certificate.
    case unknownAuthority
    case expired
    /// The certificate is not valid yet: usually this machine's clock is wrong.
    case notYetValid
    /// The certificate is for other hosts.
    case hostName
    /// The certificate's public key is none of the host's pins.
    case pin
    /// Another fault of the certificate.
    case certificate(reason: String)
    /// No TLS connection was agreed on.
    /// - Parameter isFinal: whether another attempt would fail too, until the server is changed.
    case handshake(reason: String, isFinal: Bool = false)
}

/// The phase in which a transfer waits.
public enum TransferPhase: Equatable, Sendable {
    /// Waiting for a free connection to the host.
    case waiting
    case resolving
    /// TCP and TLS.
    case connecting
    case firstByte
    case body
}

public enum RedirectFailure: Error, Equatable, Sendable {
    /// There were more than five redirects in a row.
    case tooMany
    /// A redirect from https to http.
    case insecure
    /// A redirect to an address that is neither http nor https.
    case address
}

extension TransferError: CustomStringConvertible {
    /// A description for users, without the address, which may contain a key.
    public var description: String {
        switch self {
        case .invalidRequest(let reason): "the request cannot be sent: \(reason.description)"
        case .nameResolution: "the server's name was not found. Check the name and the network"
        case .connection(let failure): failure.description
        case .proxy(let status):
            switch status {
            case nil: "the proxy's name was not found"
            case 407: "the proxy asks for a login, which this player does not have"
            case let status?: "the proxy refused with status \(status)"
            }
        case .tls(let failure): failure.description
        case .timeOut(let phase): "no answer in time while \(phase.description)"
        case .malformedAnswer:
            "the server's answer is not HTTP. If it speaks TLS, its address begins with https://"
        case .headTooLarge: "the head of the server's answer is too large"
        case .truncated: "the connection ended before the answer was complete"
        case .coding(let failure): failure.description
        case .tooLarge: "the answer is larger than allowed"
        case .redirect(let failure): failure.description
        case .webSocket(let fault): "the server does not keep to WebSocket (\(fault.rawValue))"
        case .meteredLink: "the way to the server is a metered link, which may not be used for this"
        case .localAddress: "the address leads to a machine in the local network, which it does not name itself"
        case .offlineMode: "the player is in offline mode"
        case .cancelled: "cancelled"
        case .library(let code, let reason): "\(reason) (libcurl error \(code))"
        }
    }
}

extension InvalidRequest: CustomStringConvertible {
    public var description: String {
        switch self {
        case .url: "its address is not one of http or https"
        case .header(let name): "its header \(name) is not allowed"
        case .range: "its range is empty"
        }
    }
}

extension ConnectionFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused: "the server refused the connection: nothing listens there"
        case .unreachable: "the server cannot be reached: there is no route to it"
        case .lost: "the server closed the connection"
        case .unanswered:
            "the server closed the connection without an answer. If it speaks TLS, its address begins with https://"
        case .system(let code):
            code == 0
                ? "no connection" : "no connection: \(SystemError(code: Int32(clamping: code), operation: "").reason)"
        }
    }
}

extension TLSFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownAuthority:
            "no known authority has signed the server's certificate. The usual ones are in the package "
                + "ca-certificates; a private one is named in [network] ca-file, or with --ca-file"
        case .expired: "the server's certificate has expired: the server needs a new one"
        case .notYetValid: "the server's certificate is not valid yet. Check this machine's time"
        case .hostName:
            "the server's certificate is for another host. Use an address with the host name of the certificate"
        case .pin:
            "the server's public key is none of those in [network] pins: it may have a new key, or be "
                + "another server"
        case .certificate(let reason): "the server's certificate is not accepted: \(reason)"
        case .handshake(let reason, _): "no secure connection: \(reason)"
        }
    }
}

extension TransferPhase: CustomStringConvertible {
    public var description: String {
        switch self {
        case .waiting: "waiting for a connection"
        case .resolving: "looking up the server's name"
        case .connecting: "connecting"
        case .firstByte: "waiting for the first byte"
        case .body: "receiving"
        }
    }
}

extension RedirectFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooMany: "the server redirects too often"
        case .insecure: "the server redirects from https to http, which is not allowed"
        case .address: "the server redirects to what is not an http or https address"
        }
    }
}
