import Foundation

/// A UNIX datagram socket that a test listens on, as systemd does.
public final class Datagrams: Sendable {
    public let path: String
    private let descriptor: Int32

    public init(path: String) {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(result == 0, "bind \(path)")
        limitWaits(ofSocket: descriptor)
    }

    deinit { close(descriptor) }

    /// Returns the next datagram, and waits for it. It is empty when none comes in time.
    public func next() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    /// The datagrams that have arrived.
    public func arrived() -> [String] {
        var texts: [String] = []
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, 0) > 0 { texts.append(next()) }
        return texts
    }
}
