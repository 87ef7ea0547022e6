import CLinux

/// A UNIX stream socket. Its end closes it. Any thread, one at a time for each direction.
public final class LocalSocket: Sendable {
    /// Valid as long as this object lives.
    public let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Connects. The socket blocks: for the time limit at most when it connects or sends, without a limit when it
    /// receives.
    /// - Parameter seconds: the time limit.
    /// - Throws: EAGAIN when nobody accepts the connection in time, ENOENT, ECONNREFUSED when nobody listens, EACCES,
    ///   ENAMETOOLONG for more than 107 bytes.
    public init(connectingTo path: String, seconds: Int = 5) throws(SystemError) {
        descriptor = FileName.withBytes(of: path) { tonearm_local_connect($0, Int32(clamping: seconds)) }
        if descriptor < 0 { throw .last("connect to", path) }
    }

    /// Makes a file of this name that takes connections; accepting does not block. The file is the caller's to remove.
    /// - Parameter mode: the file's permissions from the first moment, less the process's umask.
    /// - Throws: EADDRINUSE when there is something of that name, ENOENT without the folder, EACCES, EROFS,
    ///   ENAMETOOLONG for more than 107 bytes.
    public init(listeningAt path: String, mode: UInt32) throws(SystemError) {
        descriptor = FileName.withBytes(of: path) { tonearm_local_listen($0, mode) }
        if descriptor < 0 { throw .last("listen at", path) }
    }

    /// The next connection, which does not block.
    /// - Returns: nil when nobody waits.
    /// - Throws: EMFILE, ENFILE, ENOMEM: the connection goes on waiting.
    public func accept() throws(SystemError) -> LocalSocket? {
        while true {
            let accepted = tonearm_local_accept(descriptor)
            if accepted >= 0 { return LocalSocket(accepted) }
            switch tonearm_errno() {
            case EAGAIN: return nil
            case EINTR, ECONNABORTED: continue
            default: throw .last("accept")
            }
        }
    }

    /// Sends what fits.
    /// - Returns: how many bytes; nil when none do now.
    /// - Throws: EPIPE when nobody receives any more.
    public func send(_ bytes: UnsafeRawBufferPointer) throws(SystemError) -> Int? {
        try transfer("send") { tonearm_send(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Receives what is there.
    /// - Returns: how many bytes, 0 at the end; nil when none are there now.
    /// - Throws: ECONNRESET.
    public func receive(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
        try transfer("receive") { read(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Tells the other side that nothing more comes.
    public func finishSending() { _ = tonearm_finish_sending(descriptor) }

    /// The process that has connected; 0 where that is not known.
    public var peerProcess: Int { Int(tonearm_peer_process(descriptor)) }

    /// The user id of the process that has connected; nil where that is not known.
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
