import Platform

/// A client of MPD's protocol that shares no code with the server: lines on a socket.
// @unchecked: one thread of the test uses a client at a time.
package final class MPDTestClient: @unchecked Sendable {
    private let socket: StreamSocket
    private var received: [UInt8] = []

    package init(_ socket: StreamSocket) throws {
        self.socket = socket
        limitWaits(ofSocket: socket.descriptor)
    }

    package func send(_ text: String) throws { try sendPart(text + "\n") }

    /// Sends a part of a line.
    package func sendPart(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = try rest.withUnsafeBytes { try socket.send($0) }
            rest = rest.dropFirst(count ?? 0)
        }
    }

    /// The next line; nil when the server has closed the connection.
    package func line(until deadline: Deadline = Deadline()) throws -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            if try !receive(until: deadline) { return nil }
        }
    }

    /// The next bytes, as many as these.
    package func bytes(_ count: Int) throws -> [UInt8] {
        let deadline = Deadline()
        while received.count < count {
            guard try receive(until: deadline) else { throw Unexpected("closed after \(received.count) bytes") }
        }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    private func receive(until deadline: Deadline) throws -> Bool {
        try waitForDescriptor(socket.descriptor, "a line, after \(received.count) bytes of it", until: deadline)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count: Int
        do { count = try chunk.withUnsafeMutableBytes { try socket.receive(into: $0) } ?? 0 } catch { return false }
        received += chunk[..<count]
        return count > 0
    }

    /// The lines up to `OK`, which is left out, or to an ACK.
    package func answer() throws -> [String] {
        var lines: [String] = []
        while true {
            guard let line = try line() else { throw Unexpected("closed after \(lines)") }
            if line == "OK" { return lines }
            lines.append(line)
            if line.hasPrefix("ACK ") { return lines }
        }
    }

    @discardableResult
    package func ask(_ command: String) throws -> [String] {
        try send(command)
        return try answer()
    }

    /// The value of a field of an answer.
    package func value(_ key: String, of command: String) throws -> String? {
        try ask(command).first { $0.hasPrefix("\(key): ") }.map { String($0.dropFirst(key.count + 2)) }
    }
}
