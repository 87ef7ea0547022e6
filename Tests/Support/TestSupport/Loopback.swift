import Foundation

/// Sockets on the loopback interface.
public enum Loopback {
    /// A TCP socket that listens on a port of the kernel's choice.
    public static func listen(_ address: String = "127.0.0.1", backlog: Int32 = 64) -> (descriptor: Int32, port: Int) {
        let descriptor = bound(Int32(SOCK_STREAM.rawValue), to: address, port: 0)
        precondition(Glibc.listen(descriptor, backlog) == 0, "listen")
        return (descriptor, port(of: descriptor))
    }

    /// A UDP socket.
    public static func datagrams(_ address: String, port: Int) -> Int32 {
        bound(Int32(SOCK_DGRAM.rawValue), to: address, port: port)
    }

    /// Ports without a listener.
    public static func freePorts(_ count: Int) -> [Int] {
        let sockets = (0..<count).map { _ in listen() }
        for socket in sockets { close(socket.descriptor) }
        return sockets.map(\.port)
    }

    private static func bound(_ type: Int32, to text: String, port: Int) -> Int32 {
        if text.contains(":") { return bound6(type, to: text, port: port) }
        let descriptor = socket(AF_INET, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        inet_pton(AF_INET, text, &address.sin_addr)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(result == 0, "bind \(text):\(port)")
        return descriptor
    }

    private static func bound6(_ type: Int32, to text: String, port: Int) -> Int32 {
        let descriptor = socket(AF_INET6, type | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        inet_pton(AF_INET6, text, &address.sin6_addr)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
        precondition(result == 0, "bind [\(text)]:\(port)")
        return descriptor
    }

    private static func port(of descriptor: Int32) -> Int {
        // The port of an IPv6 address is at the same offset.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin6_port))
    }
}
