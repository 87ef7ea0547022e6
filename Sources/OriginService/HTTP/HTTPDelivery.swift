import CMicroHTTPD
import Glibc
import Platform

/// How the body of an answer reaches the client. Every value but the default is a requested fault.
struct HTTPDelivery: Equatable, Sendable {
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

    var end: End?
    var bytesPerSecond: Int?
    /// The number added to `Content-Length`; the connection closes after the body. If it is below 0, the body is
    /// shorter by as much.
    var lengthDifference: Int64 = 0
}

/// The state that libmicrohttpd holds while it sends a body. Thread: the connection's.
final class HTTPSending {
    /// MHD_CONTENT_READER_END_OF_STREAM and _WITH_ERROR: casts, which Swift does not import.
    static let endOfStream = -1
    static let endWithError = -2

    private let body: ContentBody
    private let delivery: HTTPDelivery
    private let socket: Int32
    /// The number of pieces a second in which a slow body is sent.
    private static let piecesPerSecond = 10

    init(_ body: ContentBody, _ delivery: HTTPDelivery, socket: Int32) {
        self.body = body
        self.delivery = delivery
        self.socket = socket
    }

    /// Returns the bytes from `offset` on. Blocks when the delivery is slow or stalls.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var room = buffer.count
        if let end = delivery.end {
            if offset >= end.place { return finish(end) }
            room = Int(min(Int64(room), end.place - offset))
        }
        if let rate = delivery.bytesPerSecond {
            if waitForClose(milliseconds: Int32(1000 / Self.piecesPerSecond)) { return Self.endWithError }
            room = min(room, max(1, rate / Self.piecesPerSecond))
        }
        do throws(SystemError) {
            let count = try body.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), at: offset)
            return count > 0 ? count : Self.endOfStream
        } catch {
            Log.warning("cannot send: \(error.description)")
            return Self.endWithError
        }
    }

    private func finish(_ end: HTTPDelivery.End) -> Int {
        switch end {
        case .stall: _ = waitForClose(milliseconds: -1)
        case .reset:
            // Let the sent bytes arrive first: a reset drops unsent bytes.
            while tonearm_http_unsent(socket) > 0, !waitForClose(milliseconds: 5) {}
            tonearm_http_reset(socket)
        case .close: break
        }
        return Self.endWithError
    }

    /// Waits until the client, or the end of the server, closes the connection.
    /// - Returns: whether the connection was closed before the time had passed.
    private func waitForClose(milliseconds: Int32) -> Bool {
        tonearm_http_wait_for_close(socket, milliseconds) > 0
    }
}
