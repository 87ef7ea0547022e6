import CLinux
import CMicroHTTPD
import Platform

/// The next step of a body that is sent at its own pace.
package enum BodyStep: Equatable, Sendable {
    /// Send the next bytes, at most so many.
    case send(atMost: Int)
    /// Close the connection without the rest.
    case close
}

/// The connection of a request.
///
/// Thread: the connection's.
package struct HTTPConnection: Sendable {
    let descriptor: Int32
    /// The address of the client: 16 bytes, those of an IPv4 address as IPv6 maps it (RFC 4291, 2.5.5.2).
    package let peerAddress: [UInt8]

    init(_ connection: OpaquePointer) {
        descriptor = tonearm_http_socket(connection)
        var address = [UInt8](repeating: 0, count: 16)
        address.withUnsafeMutableBufferPointer { tonearm_http_client(connection, $0.baseAddress) }
        peerAddress = address
    }

    /// Whether the client is in a private network, as `StreamSocket.isPeerPrivate` has it.
    package var isPeerPrivate: Bool { tonearm_is_private_address(peerAddress) == 1 }

    /// Whether this end has the address, in digits. Never over TLS.
    package func isConnected(to address: String) -> Bool {
        FileName.withBytes(of: address) { tonearm_is_connected_to(descriptor, $0) == 1 }
    }

    /// Whether the other end is a `TLSFront`.
    var isOfFront: Bool { tonearm_http_is_local(descriptor) == 1 }

    /// Whether the client has not confirmed all sent bytes yet.
    package var hasUnconfirmedBytes: Bool { tonearm_http_unsent(descriptor) > 0 }

    /// Waits until the client, or the end of the server, closes the connection.
    /// - Parameter milliseconds: -1 without a limit.
    /// - Returns: whether the connection was closed before the time had passed.
    package func waitForClose(milliseconds: Int32) -> Bool {
        tonearm_http_wait_for_close(descriptor, milliseconds) > 0
    }

    /// Resets the connection (RFC 9293, 3.5.3). Bytes that the client has not confirmed may be lost.
    package func reset() { tonearm_http_reset(descriptor) }
}

/// The state that libmicrohttpd holds while it sends a body. Thread: the connection's.
final class SentBody {
    /// MHD_CONTENT_READER_END_OF_STREAM and _WITH_ERROR: casts, which Swift does not import.
    static let endOfStream = -1
    static let endWithError = -2

    private let body: ContentBody
    private let pace: HTTPAnswer.Pace?
    private let connection: HTTPConnection

    init(_ body: ContentBody, _ pace: HTTPAnswer.Pace?, on connection: HTTPConnection) {
        self.body = body
        self.pace = pace
        self.connection = connection
    }

    /// Returns the number of bytes from `offset` on. Blocks when the pace does.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        var room = buffer.count
        if let pace {
            guard case .send(let most) = pace(offset, connection) else { return Self.endWithError }
            room = min(room, most)
        }
        do throws(SystemError) {
            let count = try body.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<room]), at: offset)
            return count > 0 ? count : Self.endOfStream
        } catch {
            Log.warning("cannot send: \(error.description)")
            return Self.endWithError
        }
    }
}

/// The state that libmicrohttpd holds while it sends a body without a known end. Thread: the connection's.
final class SentStream {
    let stream: HTTPStream

    init(_ stream: HTTPStream) { self.stream = stream }
}
