import Foundation
import Platform

/// A server on the loopback interface that answers every request with the same bytes, whatever they are, and closes
/// the connection. It ends with this object.
// @unchecked: `lock` guards what changes.
final class RawPeer: @unchecked Sendable {
    let port: Int
    private let descriptor: Int32
    private let lock = Lock()
    private var count = 0

    init(answer: String) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                precondition(bind(listening, $0, length) == 0 && listen(listening, 64) == 0, "listen")
                precondition(getsockname(listening, $0, &length) == 0, "getsockname")
            }
        }
        descriptor = listening
        port = Int(UInt16(bigEndian: address.sin_port))
        let bytes = Array(answer.utf8)
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listening, nil, nil), client >= 0 {
                // A program that another test starts would keep it open.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                Self.readHead(client)
                if let self { lock.withLock { self.count += 1 } }
                _ = send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                close(client)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// How many requests came.
    var requestCount: Int { lock.withLock { count } }

    /// Bytes that nobody has read would reset the connection when it is closed.
    private static func readHead(_ client: Int32) {
        let end = Array("\r\n\r\n".utf8)
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual(end) {
            var byte: UInt8 = 0
            guard recv(client, &byte, 1, 0) == 1 else { return }
            bytes.append(byte)
        }
    }
}
