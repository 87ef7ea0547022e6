import Foundation
import Platform
import TestSupport

/// A line to a server on the loopback interface that is cut after so many bytes, repeatedly. After each cut it refuses
/// connections for a while.
///
/// Thread: any. Its own threads forward the bytes; they end with the connections.
// @unchecked: `lock` guards the mutable state.
final class CutLine: @unchecked Sendable {
    let port: Int
    private let descriptor: Int32
    private let target: Int
    private let lock = Lock()
    // Guarded by `lock`.
    /// How many bytes pass until each of the following cuts.
    private var pieces: [Int]
    /// How many connections are closed at once after a cut.
    private let refusals: Int
    private var refusalsLeft = 0
    private var cuts = 0

    /// - Parameters:
    ///   - target: the server's port.
    ///   - pieces: bytes of the server's answers that pass before each cut; after the last cut all pass.
    ///   - refusals: how many connections after each cut are closed at once.
    init(to target: Int, pieces: [Int], refusals: Int) {
        self.target = target
        self.pieces = pieces
        self.refusals = refusals
        (descriptor, port) = Loopback.listen()
        let listening = descriptor
        Thread { [self] in
            while case let client = accept(listening, nil, nil), client >= 0 { welcome(client) }
            close(listening)
        }.start()
    }

    /// Stops accepting connections.
    func end() {
        // The thread closes it: it may be about to accept, and the number could be another server's by then.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// How often it was cut.
    var cutCount: Int { lock.withLock { cuts } }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func welcome(_ client: Int32) {
        let isRefused = lock.withLock {
            if refusalsLeft > 0 {
                refusalsLeft -= 1
                return true
            }
            return false
        }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target)
        let isConnected =
            !isRefused
            && withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        guard isConnected else {
            close(client)
            close(server)
            return
        }
        Thread { [self] in forward(client, server) }.start()
    }

    private func forward(_ client: Int32, _ server: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var isOpen = true
        while isOpen {
            var both = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&both, 2, -1) > 0 else { break }
            if both[0].revents != 0 { isOpen = copy(client, server, &buffer, buffer.count) > 0 }
            if isOpen, both[1].revents != 0 {
                let limit = lock.withLock { min(pieces.first ?? .max, buffer.count) }
                let count = copy(server, client, &buffer, limit)
                isOpen = count > 0 && !passed(count)
            }
        }
        // A reset, as of a broken line: the bytes in transit are lost.
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close(client)
        close(server)
    }

    /// - Returns: whether the line is cut now.
    private func passed(_ count: Int) -> Bool {
        lock.withLock {
            guard let left = pieces.first else { return false }
            pieces[0] = left - count
            guard pieces[0] <= 0 else { return false }
            pieces.removeFirst()
            cuts += 1
            refusalsLeft = refusals
            return true
        }
    }

    private func copy(_ from: Int32, _ to: Int32, _ buffer: inout [UInt8], _ limit: Int) -> Int {
        let count = recv(from, &buffer, limit, 0)
        var sent = 0
        while sent < count {
            let more = buffer.withUnsafeBytes {
                send(to, $0.baseAddress! + sent, count - sent, Int32(MSG_NOSIGNAL))
            }
            if more <= 0 { return 0 }
            sent += more
        }
        return count
    }
}
