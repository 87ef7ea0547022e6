import Platform

/// A request for a WebSocket. The connection obeys the settings and rules of transfers; redirects are not followed.
public struct WebSocketRequest: Sendable {
    /// `ws` or `wss`, or `http` or `https`, without a user name.
    public var url: String
    /// Further fields of the upgrade.
    public var headers: [HeaderField]
    /// Whether it may use a link that costs money (`TransferRequest.mayUseMeteredLink`).
    public var mayUseMeteredLink: Bool

    public init(url: String, headers: [HeaderField] = [], mayUseMeteredLink: Bool) {
        self.url = url
        self.headers = headers
        self.mayUseMeteredLink = mayUseMeteredLink
    }

    /// The address to connect to; nil for an invalid one.
    var address: WebAddress? {
        // Replaces the schemes, because libcurl 7.88 does not support them.
        for (scheme, other) in [("ws:", "http:"), ("wss:", "https:")] {
            let prefix = String(decoding: url.utf8.prefix(scheme.utf8.count), as: UTF8.self)
            guard prefix.equalsIgnoringCase(scheme) else { continue }
            return WebAddress(other + String(decoding: url.utf8.dropFirst(scheme.utf8.count), as: UTF8.self))
        }
        return WebAddress(url)
    }
}

/// Receives the events of a WebSocket. All calls are on the network thread, which waits: post further work elsewhere.
public protocol WebSocketSink: AnyObject, Sendable {
    /// The server has accepted the connection: texts may be sent and received.
    func opened()
    /// Receives a whole message.
    func received(_ text: String)
    /// Receives the end; exactly once, always last.
    func closed(_ end: WebSocketEnd)
}

public enum WebSocketEnd: Equatable, Sendable {
    /// `WebSocket.close` or `Network.stop` was called.
    case cancelled
    /// The server has closed the WebSocket; nil when it sent no code.
    case closed(code: UInt16?)
    /// The answer to the upgrade has another status than 101.
    /// - Parameter retryAfter: the delay that the server requests, in seconds.
    case refused(status: Int, retryAfter: Int64?)
    /// There is no connection, or it was lost: also by a change of the link, offline mode, or a fault of the server.
    case failed(TransferError)
}

/// A started WebSocket, which continues when this handle is released. Any thread. Does nothing after the end.
public final class WebSocket: Sendable {
    let number: UInt64
    private let sockets: WebSockets
    private let loop: EventLoop

    init(_ number: UInt64, of sockets: WebSockets, on loop: EventLoop) {
        self.number = number
        self.sockets = sockets
        self.loop = loop
    }

    /// Sends a message. Messages before `WebSocketSink.opened` are dropped.
    public func send(_ text: String) {
        loop.post { [sockets, number] in sockets.send(text, on: number) }
    }

    /// Closes the WebSocket with this code, 1000 for a regular end. The sink gets `.cancelled` once the server has
    /// answered, or after three seconds. Texts that arrive until then are dropped.
    public func close(code: UInt16) {
        loop.post { [sockets, number] in sockets.close(number, code: code) }
    }
}
