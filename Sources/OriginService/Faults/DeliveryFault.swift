import HTTPServer

/// A requested fault of how an answer reaches the client. The default is none.
struct DeliveryFault: Equatable, Sendable {
    /// The fault after a number of bytes of the body.
    enum End: Equatable, Sendable {
        /// No more bytes are sent, and the connection stays open.
        case stall(after: Int64)
        /// The connection is reset (RFC 9293, 3.5.3).
        case reset(after: Int64)
        /// The connection is closed in order.
        case close(after: Int64)

        var place: Int64 {
            switch self {
            case .stall(let place), .reset(let place), .close(let place): place
            }
        }
    }

    /// The fault of a WebSocket after its opening.
    enum SocketFault: String, CaseIterable, Sendable {
        /// The client is asked to connect again.
        case reconnect
        /// A text that is not JSON, and bytes that are not a frame.
        case garbage
        /// The connection is closed without a close frame.
        case drop
    }

    var end: End?
    var socketFault: SocketFault?
    var bytesPerSecond: Int?
    /// The number added to `Content-Length`; the connection closes after the body. If it is below 0, the body is
    /// shorter by as much.
    var lengthDifference: Int64 = 0

    /// The number of pieces a second in which a slow body is sent.
    private static let piecesPerSecond = 10

    /// Injects the fault into the body of an answer.
    func inject(into answer: inout HTTPAnswer) {
        if lengthDifference != 0 { answer.announcedLength = max(0, answer.body.count + lengthDifference) }
        if end != nil || bytesPerSecond != nil { answer.pace = { [self] in step(at: $0, on: $1) } }
    }

    /// Blocks when the delivery is slow or stalls.
    private func step(at offset: Int64, on connection: HTTPConnection) -> BodyStep {
        var room = Int.max
        if let end {
            if offset >= end.place {
                finish(end, connection)
                return .close
            }
            room = Int(clamping: end.place - offset)
        }
        if let rate = bytesPerSecond {
            if connection.waitForClose(milliseconds: Int32(1000 / Self.piecesPerSecond)) { return .close }
            room = min(room, max(1, rate / Self.piecesPerSecond))
        }
        return .send(atMost: room)
    }

    private func finish(_ end: End, _ connection: HTTPConnection) {
        switch end {
        case .stall: _ = connection.waitForClose(milliseconds: -1)
        case .reset:
            // Let the sent bytes arrive first: a reset drops unsent bytes.
            while connection.hasUnconfirmedBytes, !connection.waitForClose(milliseconds: 5) {}
            connection.reset()
        case .close: break
        }
    }
}
