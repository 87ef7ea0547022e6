import CLinux
import Foundation

/// A server that handles each connection with a script of the test. It ends with this object.
public final class ScriptedServer: Sendable {
    public let port: Int
    private let address: String
    private let descriptor: Int32
    private let open = Locked<[Int32]>([])
    private let connections = Locked(0)

    /// - Parameter script: called for each connection, on a new thread; the connection is closed afterwards.
    public init(address: String = "127.0.0.1", _ script: @escaping @Sendable (ScriptedConnection) -> Void) {
        self.address = address
        (descriptor, port) = Loopback.listen(address)
        let (descriptor, open, connections) = (descriptor, open, connections)
        Thread.detachNewThread {
            while true {
                // Closed on exec: otherwise a program that another test starts would hold it open.
                let connection = tonearm_local_accept(descriptor)
                guard connection >= 0 else {
                    close(descriptor)
                    return
                }
                _ = fcntl(connection, F_SETFL, 0)
                limitWaits(ofSocket: connection)
                open.withLock { $0.append(connection) }
                connections.withLock { $0 += 1 }
                Thread.detachNewThread {
                    script(ScriptedConnection(descriptor: connection))
                    let isOpen = open.withLock { open in
                        defer { open.removeAll { $0 == connection } }
                        return open.contains(connection)
                    }
                    if isOpen { close(connection) }
                }
            }
        }
    }

    deinit {
        // The thread closes it. Closed here, its number could be another server's before the thread accepts again, and
        // the script of this one would answer there.
        shutdown(descriptor, Int32(SHUT_RDWR))
        // Wakes scripts that read.
        open.withLock { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    public var connectionCount: Int { connections.withLock { $0 } }

    public func url(_ path: String = "/", scheme: String = "http") -> String { "\(scheme)://\(address):\(port)\(path)" }
}

/// The server's end of a connection.
public struct ScriptedConnection: Sendable {
    public let descriptor: Int32

    /// The next request, head and body; nil when the client has closed.
    public func request() -> String? {
        var bytes: [UInt8] = []
        let end = Array("\r\n\r\n".utf8)
        while !bytes.suffix(4).elementsEqual(end) {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        let head = String(decoding: bytes, as: UTF8.self)
        let length = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) }
        var body = [UInt8](repeating: 0, count: length ?? 0)
        guard body.isEmpty || recv(descriptor, &body, body.count, Int32(MSG_WAITALL)) == body.count
        else { return nil }
        return head + String(decoding: body, as: UTF8.self)
    }

    /// Some bytes, whatever they are.
    public func bytes() -> Int {
        var bytes = [UInt8](repeating: 0, count: 4096)
        return recv(descriptor, &bytes, bytes.count, 0)
    }

    public func send(_ text: String) { send(Array(text.utf8)) }

    /// - Returns: whether the client took them.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Blocks until the client closes.
    public func waitForClose() { while bytes() > 0 {} }

    /// Has the kernel reset the connection when it is closed.
    public func resetAtClose() {
        var setting = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
    }
}
