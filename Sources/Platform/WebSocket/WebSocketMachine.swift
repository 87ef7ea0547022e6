/// One end of an open WebSocket, without I/O and clock (RFC 6455, 5 to 7): bytes and time in, texts and frames out.
///
///     var machine = WebSocketMachine(.client, at: now)
///     machine.receive(bytes, at: now)     // [.text("…")], [.send(pong)], [.send(close), .ended(.closed(code: 1000))]
///     machine.timePassed(at: now)         // at `deadline`
///
/// Every time is in nanoseconds of a monotonic clock. After `.ended` there is no more output.
public struct WebSocketMachine: Sendable {
    public enum Role: Sendable { case client, server }

    public enum Output: Equatable, Sendable {
        case send(WebSocketFrame)
        case text(String)
        /// Always last: the connection can be closed once the frames are sent.
        case ended(End)
    }

    public enum End: Equatable, Sendable {
        /// The other end has closed; nil when it sent no code.
        case closed(code: UInt16?)
        /// This end has closed.
        case closedHere
        case fault(WebSocketFault)
        /// The other end does not answer a ping.
        case silence
        /// The connection was lost.
        case lost
    }

    public struct Limits: Sendable {
        /// The longest message in bytes.
        public var longestMessage = 65_536
        /// The silence of the other end after which it gets a ping.
        public var pingInterval: Int64 = 60_000_000_000
        /// How long it may leave a ping without any bytes.
        public var patience: Int64 = 20_000_000_000
        /// How long it may leave a close frame without an answer.
        public var closingTime: Int64 = 3_000_000_000

        public init() {}
    }

    private enum Phase {
        case open
        /// A close frame was sent; the connection ends at this time without an answer.
        case closing(until: Int64)
        case ended
    }

    private let limits: Limits
    private var reader: WebSocketFrameReader
    private var phase = Phase.open
    /// The start of a message in several frames.
    private var message: [UInt8]?
    /// The time of the last bytes, or of the ping after them.
    private var since: Int64
    private var isPinged = false

    public init(_ role: Role, limits: Limits = Limits(), at now: Int64) {
        self.limits = limits
        reader = WebSocketFrameReader(isMasked: role == .server)
        since = now
    }

    /// When `timePassed` is due; nil after the end.
    public var deadline: Int64? {
        switch phase {
        case .open: since + (isPinged ? limits.patience : limits.pingInterval)
        case .closing(let end): end
        case .ended: nil
        }
    }

    // MARK: Events

    public mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Int64) -> [Output] {
        var outputs: [Output] = []
        guard deadline != nil else { return [] }
        (since, isPinged) = (now, false)
        reader.append(bytes)
        do throws(WebSocketFault) {
            while deadline != nil, let frame = try reader.next(room: limits.longestMessage - (message?.count ?? 0)) {
                try take(frame, &outputs)
            }
        } catch {
            if isOpen {
                outputs += [.send(WebSocketFrame(closing: error.rawValue)), .ended(.fault(error))]
            } else {
                outputs.append(.ended(.closedHere))
            }
            phase = .ended
        }
        return outputs
    }

    /// Sends a text; nothing after the close frame.
    public mutating func send(_ text: String) -> [Output] {
        isOpen ? [.send(WebSocketFrame(.text, Array(text.utf8)))] : []
    }

    /// Begins the close handshake. Texts that still arrive are dropped.
    public mutating func close(code: UInt16, at now: Int64) -> [Output] {
        guard isOpen else { return [] }
        phase = .closing(until: now + limits.closingTime)
        return [.send(WebSocketFrame(closing: code))]
    }

    /// The connection has ended.
    public mutating func disconnected() -> [Output] { end(isOpen ? .lost : .closedHere) }

    public mutating func timePassed(at now: Int64) -> [Output] {
        guard let deadline, now >= deadline else { return [] }
        guard isOpen else { return end(.closedHere) }
        if isPinged { return end(.silence) }
        (since, isPinged) = (now, true)
        return [.send(WebSocketFrame(.ping))]
    }

    // MARK: Frames

    private var isOpen: Bool {
        if case .open = phase { true } else { false }
    }

    private mutating func end(_ end: End) -> [Output] {
        guard deadline != nil else { return [] }
        phase = .ended
        return [.ended(end)]
    }

    private mutating func take(_ frame: WebSocketFrame, _ outputs: inout [Output]) throws(WebSocketFault) {
        switch frame.kind {
        case .ping: if isOpen { outputs.append(.send(WebSocketFrame(.pong, frame.payload))) }
        case .pong: break
        case .close:
            let code = try Self.closeCode(frame.payload)
            if isOpen { outputs.append(.send(WebSocketFrame(closing: code))) }
            outputs += end(isOpen ? .closed(code: code) : .closedHere)
        case .binary: throw message == nil ? .notText : .protocolError
        case .text:
            guard message == nil else { throw .protocolError }
            message = frame.payload
        case .continuation:
            guard message != nil else { throw .protocolError }
            message?.append(contentsOf: frame.payload)
        }
        guard !frame.kind.isControl, frame.isFinal, let whole = message else { return }
        message = nil
        guard let text = String(validating: whole, as: UTF8.self) else { throw .notUTF8 }
        if isOpen { outputs.append(.text(text)) }
    }

    /// Returns the code of a close frame, which may be followed by a reason (5.5.1, 7.4).
    private static func closeCode(_ payload: [UInt8]) throws(WebSocketFault) -> UInt16? {
        if payload.isEmpty { return nil }
        guard payload.count >= 2 else { throw .protocolError }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: break
        default: throw .protocolError
        }
        guard String(validating: payload.dropFirst(2), as: UTF8.self) != nil else { throw .notUTF8 }
        return code
    }
}
