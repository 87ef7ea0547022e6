import CLinux
import CMicroHTTPD
import Platform

/// A connection that speaks another protocol than HTTP by now. libmicrohttpd owns its descriptor, and translates TLS.
///
/// Thread: one at a time. It must be closed before the server ends.
/// `@unchecked Sendable` is safe because one thread hands it over to the next one.
package final class UpgradedSocket: @unchecked Sendable {
    package enum Received {
        case bytes([UInt8])
        /// Nothing has arrived yet.
        case nothing
        /// The connection has ended.
        case end
    }

    package let descriptor: Int32
    private let handle: OpaquePointer
    /// Bytes that arrived together with the request.
    private var early: [UInt8]
    private var isClosed = false

    private static let receiveSize = 16_384

    init(_ descriptor: Int32, _ handle: OpaquePointer, early: [UInt8]) {
        self.descriptor = descriptor
        self.handle = handle
        self.early = early
    }

    /// Returns bytes that have arrived, without waiting.
    package func receive() -> Received {
        if !early.isEmpty {
            defer { early = [] }
            return .bytes(early)
        }
        var bytes = [UInt8](repeating: 0, count: Self.receiveSize)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            if count > 0 { return .bytes(Array(bytes[..<count])) }
            if count == 0 { return .end }
            let error = tonearm_errno()
            if error != EINTR { return error == EAGAIN ? .nothing : .end }
        }
    }

    /// Sends bytes, or some of them, without waiting.
    /// - Returns: the number of sent bytes; nil when the connection has ended.
    package func send(_ bytes: [UInt8]) -> Int? {
        while true {
            let count = sendNow(bytes, on: descriptor)
            if count >= 0 { return count }
            let error = tonearm_errno()
            if error != EINTR { return error == EAGAIN ? 0 : nil }
        }
    }

    /// Closes the connection after the bytes that were sent. Idempotent.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        tonearm_http_close_upgraded(handle)
    }
}

/// send(2) without waiting; in the class that name is its method.
private func sendNow(_ bytes: [UInt8], on descriptor: Int32) -> Int {
    send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
}
