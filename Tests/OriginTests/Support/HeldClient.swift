import Foundation
import Glibc
import TestSupport

/// A client of HTTP/1.1 with its own connection, which stays open. A request goes out in two steps. The answer comes in
/// two: its head, and its body when the test takes it. There is little room between the two ends, so that a server with
/// a long body has not finished before.
///
/// Thread: one at a time.
final class HeldClient {
    struct Answer {
        var status: Int
        /// The headers by their names in lower case.
        var headers: [String: String]
        var body: Data
    }

    /// The receive buffer of the client's end, in bytes; the kernel takes twice as much.
    private static let room: Int32 = 8192
    /// The size of a TCP segment, as on Ethernet. On the loopback interface the server's end would have megabytes of
    /// room.
    private static let segmentSize: Int32 = 1460

    private let descriptor: Int32
    private let serverPort: Int
    /// The rest of the request, which is not sent yet.
    private var unsent: [UInt8] = []
    private var head = Data()
    private var answer = Answer(status: 0, headers: [:], body: Data())
    private var length = 0
    private var taken = 0

    init(to port: Int) throws {
        serverPort = port
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        set(SOL_SOCKET, SO_RCVBUF, Self.room)
        set(Int32(IPPROTO_TCP), TCP_MAXSEG, Self.segmentSize)
        set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        limitWaits(ofSocket: descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Unexpected("no connection: errno \(errno)") }
    }

    deinit { close(descriptor) }

    private func set<Value>(_ level: Int32, _ option: Int32, _ value: Value) {
        withUnsafeBytes(of: value) {
            precondition(
                setsockopt(descriptor, level, option, $0.baseAddress, socklen_t($0.count)) == 0, "option \(option)")
        }
    }

    // MARK: A request

    /// Sends a request but for its last byte.
    func begin(_ path: String, range: String? = nil) throws {
        var text = "GET \(path) HTTP/1.1\r\nHost: nas\r\n"
        if let range { text += "Range: \(range)\r\n" }
        unsent = Array("\(text)\r\n".utf8)
        try send(unsent.count - 1)
    }

    /// Sends the last byte.
    func finish() throws { try send(unsent.count) }

    private func send(_ count: Int) throws {
        guard Glibc.send(descriptor, unsent, count, Int32(MSG_NOSIGNAL)) == count else {
            throw Unexpected("a request cannot be sent: errno \(errno)")
        }
        unsent.removeFirst(count)
    }

    // MARK: Its answer

    /// Waits for the head of the answer. Takes no bytes of the body.
    func takeHead() throws {
        head = Data()
        let end = Data("\r\n\r\n".utf8)
        while !head.hasSuffix(end) {
            // As long as the received bytes contain no end, all of them belong to the head.
            var bytes = [UInt8](repeating: 0, count: 2048)
            let seen = recv(descriptor, &bytes, bytes.count, Int32(MSG_PEEK))
            guard seen > 0 else { throw Unexpected("no head: \(seen), errno \(errno)") }
            let both = head.suffix(3) + bytes[..<seen]
            let ended = both.range(of: end).map { $0.upperBound - both.startIndex - min(3, head.count) }
            let count = recv(descriptor, &bytes, ended ?? seen, 0)
            head.append(contentsOf: bytes[..<count])
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines[0].split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Unexpected("no status in: \(lines[0])")
        }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        guard let length = headers["content-length"].flatMap({ Int($0) }) else {
            throw Unexpected("no length in: \(lines)")
        }
        (self.length, taken) = (length, 0)
        answer = Answer(status: status, headers: headers, body: Data(count: length))
    }

    /// Takes the bodies of all, each as it comes.
    /// - Returns: the answers, in the order of the clients.
    static func takeBodies(of clients: [HeldClient]) throws -> [Answer] {
        while true {
            let waiting = clients.filter { $0.taken < $0.length }
            if waiting.isEmpty { return clients.map(\.answer) }
            var polled = waiting.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&polled, nfds_t(polled.count), Deadline().milliseconds) > 0 else {
                throw Unexpected("\(waiting.count) bodies do not come: errno \(errno)")
            }
            for (client, state) in zip(waiting, polled) where state.revents != 0 { try client.takeMore() }
        }
    }

    private func takeMore() throws {
        let count = answer.body.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + taken, length - taken, 0) }
        guard count > 0 else { throw Unexpected("a body ends after \(taken) of \(length) bytes: errno \(errno)") }
        taken += count
    }

    /// Asks, and takes the whole answer.
    func fetch(_ path: String, range: String? = nil) throws -> Answer {
        try begin(path, range: range)
        try finish()
        try takeHead()
        return try Self.takeBodies(of: [self])[0]
    }

    // MARK: Bytes in transit

    /// How many clients have received a head, while the server has not yet handed over all bytes of the body to the
    /// kernel. The server works on so many answers at this moment.
    static func countOfUnfinished(_ clients: [HeldClient]) throws -> Int {
        // Before the received bytes are counted: so a byte that arrives meanwhile is counted twice, and never missed.
        let unconfirmed = try unconfirmedBytes()
        return clients.filter { client in
            var arrived: Int32 = 0
            guard ioctl(client.descriptor, UInt(FIONREAD), &arrived) == 0,
                let unconfirmed = unconfirmed["\(client.serverPort) \(client.port)"]
            else { return false }
            return client.taken + Int(arrived) + unconfirmed < client.length
        }.count
    }

    /// Bytes that have left the process at one end of a connection and have not come to the other one; by the ports of
    /// both (proc_net_tcp of the kernel's documentation).
    private static func unconfirmedBytes() throws -> [String: Int] {
        let file = open("/proc/net/tcp", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Unexpected("/proc/net/tcp: errno \(errno)") }
        defer { close(file) }
        // Foundation would take the first part of the file for all of it.
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        let table = String(decoding: text, as: UTF8.self)
        var bytes: [String: Int] = [:]
        for line in table.split(separator: "\n").dropFirst() {
            let fields = line.split(separator: " ")
            let ports = fields[1...2].compactMap { Int($0.suffix(4), radix: 16) }
            bytes["\(ports[0]) \(ports[1])"] = Int(fields[4].prefix(8), radix: 16)
        }
        return bytes
    }

    /// The port of the client's end.
    private var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

extension Data {
    fileprivate func hasSuffix(_ end: Data) -> Bool { suffix(end.count) == end }
}
