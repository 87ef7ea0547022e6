import Network

/// The part of `Network` that streaming privileges use; tests replace it.
package protocol PrivilegesNetwork: LoginNetwork {
    func openSocket(_ request: WebSocketRequest, into sink: any WebSocketSink) -> any OngoingSocket
}

/// A WebSocket that is open or being opened. Any thread.
package protocol OngoingSocket: AnyObject, Sendable {
    func send(_ text: String)
    /// Ends the connection with a code of RFC 6455.
    func close(code: UInt16)
}

extension WebSocket: OngoingSocket {}

extension Network: PrivilegesNetwork {
    package func openSocket(_ request: WebSocketRequest, into sink: any WebSocketSink) -> any OngoingSocket {
        openWebSocket(request, into: sink)
    }
}
