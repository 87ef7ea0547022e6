import CLinux
import CMicroHTTPD
import Platform

/// A TCP socket that listens. It is passed to a server, which closes it.
package struct ListeningSocket {
    package let descriptor: Int32
    /// The host in the form of an address: `127.0.0.1`, `[::1]`.
    package let host: String
    /// The port; if 0 was requested, the port that the kernel chose.
    package let port: Int

    /// - Parameter address: a numeric address of IPv4 or IPv6; `::` stands for all addresses of both families.
    /// - Throws: EINVAL for another text, EADDRINUSE, EADDRNOTAVAIL, EACCES…
    package init(address: String, port: Int) throws(SystemError) {
        let subject = "\(address) port \(port)"
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &found) == 0, let found else {
            throw SystemError(code: EINVAL, operation: "listen at", subject: subject)
        }
        defer { freeaddrinfo(found) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(found.pointee.ai_family, kind, 0)
        guard descriptor >= 0 else { throw .last("listen at", subject) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        tonearm_tcp_accept_both(descriptor)
        guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0, listen(descriptor, 128) == 0
        else {
            let error = SystemError.last("listen at", subject)
            close(descriptor)
            throw error
        }
        self.port = Self.port(of: descriptor) ?? port
        host = found.pointee.ai_family == AF_INET6 ? "[\(address)]" : address
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutableBytes(of: &storage) { bytes -> Int? in
            guard let base = bytes.baseAddress,
                getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
            else { return nil }
            // The port has the same offset for IPv4 and IPv6.
            return Int(base.load(fromByteOffset: 2, as: UInt16.self).bigEndian)
        }
    }
}
