import Network
import Platform
import TestSupport
import Testing

/// Records a WebSocket for a test, which waits for the events that it needs.
// @unchecked: `condition` guards the mutable state.
final class RecordingWebSocket: WebSocketSink, @unchecked Sendable {
    private let condition = Condition()
    private var isOpened = false
    private var received: [String] = []
    private var ends: [WebSocketEnd] = []
    private(set) var socket: WebSocket?
    private let network: Network
    /// Lives as long as this object.
    private let server: ScriptedServer?

    convenience init(_ network: Network, _ server: ScriptedServer, mayUseMeteredLink: Bool = true) {
        self.init(network, server.url(scheme: "ws"), to: server, mayUseMeteredLink: mayUseMeteredLink)
    }

    init(
        _ network: Network, _ url: String, headers: [HeaderField] = [], to server: ScriptedServer? = nil,
        mayUseMeteredLink: Bool = true
    ) {
        self.network = network
        self.server = server
        let request = WebSocketRequest(url: url, headers: headers, mayUseMeteredLink: mayUseMeteredLink)
        socket = network.openWebSocket(request, into: self)
    }

    func opened() { condition.update { isOpened = ends.isEmpty } }
    func received(_ text: String) { condition.update { received.append(text) } }
    func closed(_ end: WebSocketEnd) { condition.update { ends.append(end) } }

    // MARK: For the test

    func send(_ text: String) { socket?.send(text) }
    func close(code: UInt16 = 1000) { socket?.close(code: code) }

    /// Waits until the server has accepted, or the end.
    func waitForOpen() -> Bool {
        expectSoon("the WebSocket") { condition.update { isOpened || !ends.isEmpty } }
        return condition.update { isOpened }
    }

    /// Waits for so many texts, or the end.
    func waitForTexts(_ count: Int) -> [String] {
        expectSoon("texts") { condition.update { received.count >= count || !ends.isEmpty } }
        return texts
    }

    func waitForEnd() -> WebSocketEnd? {
        expectSoon("the end") { condition.update { !ends.isEmpty } }
        return condition.update { ends.first }
    }

    var texts: [String] { condition.update { received } }
    var endCount: Int { condition.update { ends.count } }
}
