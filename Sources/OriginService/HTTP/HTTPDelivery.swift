import CMicroHTTPD
import Glibc
import Platform

/// How the body of an answer reaches the client. All but the default is a fault that was asked for.
struct HTTPDelivery: Equatable, Sendable {
    /// What happens behind so many bytes of the body.
    enum End: Equatable, Sendable {
        /// Nothing comes any more, and the connection stays open.
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
    /// Is added to `Content-Length`; the connection closes after the body. Below 0 the body is so much shorter, too.
    var lengthDifference: Int64 = 0
}

/// What libmicrohttpd holds while it sends a body. Thread: the connection's.
final class HTTPSending {
    /// MHD_CONTENT_READER_END_OF_STREAM and _WITH_ERROR: casts, which Swift does not import.
    static let endOfStream = -1
    static let endWithError = -2

    private let body: ContentBody
    private let delivery: HTTPDelivery
    private let socket: Int32
    /// A slow body is sent in so many pieces a second.
    private static let piecesPerSecond = 10

    init(_ body: ContentBody, _ delivery: HTTPDelivery, socket: Int32) {
        self.body = body
        self.delivery = delivery
        self.socket = socket
    }

    /// The bytes from `offset` on. It blocks where the delivery is slow or stalls.
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
            // What was sent is to arrive first: a reset throws away what has not left.
            while tonearm_http_unsent(socket) > 0, !waitForClose(milliseconds: 5) {}
            tonearm_http_reset(socket)
        case .close: break
        }
        return Self.endWithError
    }

    /// Waits until the client, or the end of the server, closes the connection.
    /// - Returns: whether that was so, and not the time.
    private func waitForClose(milliseconds: Int32) -> Bool {
        tonearm_http_wait_for_close(socket, milliseconds) > 0
    }
}
