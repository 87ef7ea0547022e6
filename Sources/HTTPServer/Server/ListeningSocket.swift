import CLinux
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
        // Does not use getaddrinfo(3), which would add all of the C library's resolver to a static program.
        guard let number = UInt16(exactly: port) else {
            throw SystemError(code: EINVAL, operation: "listen at", subject: subject)
        }
        descriptor = FileName.withBytes(of: address) { tonearm_tcp_listen($0, number) }
        guard descriptor >= 0 else { throw .last("listen at", subject) }
        self.port = Int(tonearm_tcp_port(descriptor))
        host = address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
    }
}
