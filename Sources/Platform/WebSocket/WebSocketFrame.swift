/// A frame of a WebSocket (RFC 6455, 5.2).
public struct WebSocketFrame: Equatable, Sendable {
    public enum Kind: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= 8 }
    }

    public var kind: Kind
    /// Whether it is the last frame of its message.
    public var isFinal: Bool
    public var payload: [UInt8]

    public init(_ kind: Kind, _ payload: [UInt8] = [], isFinal: Bool = true) {
        self.kind = kind
        self.isFinal = isFinal
        self.payload = payload
    }

    /// Makes a close frame.
    /// - Parameter code: nil for none.
    public init(closing code: UInt16?) {
        self.init(.close, code.map { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] } ?? [])
    }

    /// Returns the bytes to send.
    /// - Parameter mask: a random number in the frames of a client; nil in those of a server (5.3).
    public func bytes(mask: UInt32?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count + 14)
        bytes.append((isFinal ? 0x80 : 0) | kind.rawValue)
        let masked: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: bytes.append(masked | UInt8(truncatingIfNeeded: payload.count))
        case ..<65_536:
            bytes.append(masked | 126)
            Self.append(UInt64(payload.count), 2, to: &bytes)
        default:
            bytes.append(masked | 127)
            Self.append(UInt64(payload.count), 8, to: &bytes)
        }
        guard let mask else { return bytes + payload }
        Self.append(UInt64(mask), 4, to: &bytes)
        for (index, byte) in payload.enumerated() {
            bytes.append(byte ^ UInt8(truncatingIfNeeded: mask >> UInt32(24 - index % 4 * 8)))
        }
        return bytes
    }

    /// Appends a number in network byte order.
    private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64((count - 1 - index) * 8))) }
    }
}

/// Why the other end of a WebSocket cannot be understood. The raw value is the code of the close frame (RFC 6455,
/// 7.4.1).
public enum WebSocketFault: UInt16, Error, Sendable {
    /// Reserved bits, unknown or misplaced frames, a wrong mask or length, an impossible close code.
    case protocolError = 1002
    /// A binary message.
    case notText = 1003
    /// A text that is not UTF-8.
    case notUTF8 = 1007
    case tooLarge = 1009
}

/// Divides the bytes of one direction of a WebSocket into frames.
struct WebSocketFrameReader: Sendable {
    /// Whether received frames must have a mask, because they come from a client.
    private let isMasked: Bool
    private var buffer: [UInt8] = []
    /// The index of the first byte of the next frame.
    private var start = 0

    init(isMasked: Bool) { self.isMasked = isMasked }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        buffer.removeFirst(start)
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next frame; nil until all of its bytes have arrived.
    /// - Parameter room: the largest payload of a frame with data. A larger one is refused by its head alone.
    mutating func next(room: Int) throws(WebSocketFault) -> WebSocketFrame? {
        let available = buffer.count - start
        guard available >= 2 else { return nil }
        let (first, second) = (buffer[start], buffer[start + 1])
        // The reserved bits belong to extensions, and none was agreed on.
        guard first & 0x70 == 0, let kind = WebSocketFrame.Kind(rawValue: first & 0x0F),
            (second & 0x80 != 0) == isMasked
        else { throw .protocolError }
        let isFinal = first & 0x80 != 0
        var count = Int(second & 0x7F)
        let wide = count == 127 ? 8 : count == 126 ? 2 : 0
        if kind.isControl, !isFinal || wide > 0 { throw .protocolError }
        guard available >= 2 + wide else { return nil }
        if wide > 0 {
            var number: UInt64 = 0
            for index in 0..<wide { number = number << 8 | UInt64(buffer[start + 2 + index]) }
            // The shortest form must be used, and the highest bit must be 0.
            guard number >= (wide == 2 ? 126 : 65_536), number >> 63 == 0 else { throw .protocolError }
            guard number <= UInt64(max(room, 0)) else { throw .tooLarge }
            count = Int(truncatingIfNeeded: number)
        }
        if !kind.isControl, count > room { throw .tooLarge }
        let mask = start + 2 + wide
        let head = 2 + wide + (isMasked ? 4 : 0)
        guard available >= head + count else { return nil }
        var payload = Array(buffer[(start + head)..<(start + head + count)])
        if isMasked {
            for index in payload.indices { payload[index] ^= buffer[mask + index % 4] }
        }
        start += head + count
        return WebSocketFrame(kind, payload, isFinal: isFinal)
    }
}
