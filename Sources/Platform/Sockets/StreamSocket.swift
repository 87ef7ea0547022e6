import CLinux

/// A UNIX or TCP stream socket. `deinit` closes it. Any thread, one at a time for each direction.
public final class StreamSocket: Sendable {
    /// Valid as long as this object lives.
    public let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Takes a socket over, and closes it at its end.
    public convenience init(owning descriptor: Int32) { self.init(descriptor) }

    deinit { close(descriptor) }

    /// Connects. The socket blocks: up to the time limit when it connects or sends, and without a limit when it
    /// receives.
    /// - Parameter seconds: the time limit.
    /// - Throws: EAGAIN when the connection is not accepted in time, ENOENT, ECONNREFUSED when no program listens,
    ///   EACCES, ENAMETOOLONG for more than 107 bytes.
    public init(connectingTo path: String, seconds: Int = 5) throws(SystemError) {
        descriptor = FileName.withBytes(of: path) { tonearm_local_connect($0, Int32(clamping: seconds)) }
        if descriptor < 0 { throw .last("connect to", path) }
    }

    /// Creates a socket file that accepts connections; accepting does not block. The caller removes the file.
    /// - Parameter mode: the file's permissions from the first moment, minus the process's umask.
    /// - Throws: EADDRINUSE when the name exists, ENOENT without the folder, EACCES, EROFS, ENAMETOOLONG for more than
    ///   107 bytes.
    public init(listeningAt path: String, mode: UInt32) throws(SystemError) {
        descriptor = FileName.withBytes(of: path) { tonearm_local_listen($0, mode) }
        if descriptor < 0 { throw .last("listen at", path) }
    }

    /// Listens at a port of IPv4 or IPv6; accepting does not block.
    /// - Parameters:
    ///   - address: a numeric address; `::` stands for all addresses of both families.
    ///   - port: 0 lets the kernel choose one.
    /// - Throws: EINVAL for another text, EADDRINUSE, EADDRNOTAVAIL, EACCES.
    public init(listeningAt address: String, port: UInt16) throws(SystemError) {
        descriptor = FileName.withBytes(of: address) { tonearm_tcp_listen($0, port) }
        if descriptor < 0 { throw .last("listen at", "\(address) port \(port)") }
    }

    /// Connects to a port. The socket blocks like one that `init(connectingTo:seconds:)` makes.
    /// - Parameter address: a numeric address of IPv4 or IPv6.
    /// - Throws: EINVAL for another text, ECONNREFUSED, ETIMEDOUT, ENETUNREACH.
    public init(connectingTo address: String, port: UInt16, seconds: Int = 5) throws(SystemError) {
        descriptor = FileName.withBytes(of: address) { tonearm_tcp_connect($0, port, Int32(clamping: seconds)) }
        if descriptor < 0 { throw .last("connect to", "\(address) port \(port)") }
    }

    /// Connects two sockets inside of the process.
    /// - Parameter seconds: how long `asking` waits when it sends or receives.
    /// - Returns: `served`, which does not block, and `asking`, which does.
    /// - Throws: EMFILE, ENFILE, ENOMEM.
    public static func pair(seconds: Int) throws(SystemError) -> (served: StreamSocket, asking: StreamSocket) {
        var descriptors: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutableBytes(of: &descriptors) {
            tonearm_local_pair($0.baseAddress?.assumingMemoryBound(to: Int32.self), Int32(clamping: seconds))
        }
        if result != 0 { throw .last("socketpair") }
        return (StreamSocket(descriptors.0), StreamSocket(descriptors.1))
    }

    /// Ends both directions. A thread that waits in `receive` then receives the end. Any thread.
    public func shutDown() { tonearm_shut_down(descriptor) }

    /// Whether `init(listeningAt:port:)` can read the text.
    public static func isNumericAddress(_ text: String) -> Bool {
        FileName.withBytes(of: text) { tonearm_is_numeric_address($0) == 1 }
    }

    /// The port at which a TCP socket listens; nil for a UNIX socket.
    public var port: UInt16? {
        let port = tonearm_tcp_port(descriptor)
        return port > 0 ? UInt16(truncatingIfNeeded: port) : nil
    }

    /// Whether the other end of a TCP connection is in a private network: RFC 1918, loopback, link-local or unique
    /// local, or with IPv6 in the network of one of this machine's interfaces. There, all machines of a house have
    /// global addresses. A UNIX socket is not.
    public var isPeerPrivate: Bool { tonearm_peer_is_private(descriptor) == 1 }

    /// The address of the other end of a TCP connection: 16 bytes, those of an IPv4 address as IPv6 maps it (RFC 4291,
    /// 2.5.5.2). Zeros when it is unknown.
    public var peerAddress: [UInt8] {
        var address = [UInt8](repeating: 0, count: 16)
        address.withUnsafeMutableBufferPointer { tonearm_peer_address(descriptor, $0.baseAddress) }
        return address
    }

    /// Returns the next connection, which does not block.
    /// - Returns: nil when no connection waits.
    /// - Throws: EMFILE, ENFILE, ENOMEM: the connection then stays in the queue.
    public func accept() throws(SystemError) -> StreamSocket? {
        while true {
            let accepted = tonearm_local_accept(descriptor)
            if accepted >= 0 { return StreamSocket(accepted) }
            switch tonearm_errno() {
            case EAGAIN: return nil
            case EINTR, ECONNABORTED: continue
            default: throw .last("accept")
            }
        }
    }

    /// Sends as many bytes as fit.
    /// - Returns: the number of bytes; nil when nothing fits now.
    /// - Throws: EPIPE when the other side has closed.
    public func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
        try transfer("send") { tonearm_send(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Receives the bytes that have arrived.
    /// - Returns: the number of bytes, 0 at the end; nil when there are none now.
    /// - Throws: ECONNRESET.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        try transfer("receive") { read(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Signals to the other side that no more bytes follow.
    public func finishSending() { _ = tonearm_finish_sending(descriptor) }

    /// The process that has connected; 0 when it is unknown.
    public var peerProcess: Int { Int(tonearm_peer_process(descriptor)) }

    /// The user id of the process that has connected; nil when it is unknown.
    public var peerUser: UInt32? {
        let user = tonearm_peer_user(descriptor)
        return user == .max ? nil : user
    }

    private func transfer(_ operation: String, _ call: () -> Int) throws(SystemError) -> Int? {
        while true {
            let count = call()
            if count >= 0 { return count }
            switch tonearm_errno() {
            case EINTR: continue
            case EAGAIN: return nil
            default: throw .last(operation)
            }
        }
    }
}
