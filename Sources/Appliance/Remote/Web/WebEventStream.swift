import HTTPServer
import Platform

/// The events of the control protocol as server-sent events (HTML standard, 9.2). The first event is `status`, with the
/// whole status.
///
/// Thread: that of one connection. `@unchecked Sendable` is safe for that reason.
final class WebEventStream: @unchecked Sendable {
    /// After this time without an event a comment is sent, in seconds. It finds out whether the client is still there.
    static let keepAliveSeconds = 15

    private let connection: ControlConnection
    private var waiting: [UInt8] = []
    private var sent = 0

    /// - Parameter events: names of events with a comma between two; nil for all.
    init(_ connections: ControlConnections, events: String?) throws(WebRefusal) {
        do throws(SystemError) {
            connection = try connections.connect(seconds: Self.keepAliveSeconds)
        } catch {
            throw WebRefusal(503, "system", error.description)
        }
        var request: JSONValue = ["request": "subscribe"]
        if let events {
            let names = events.utf8.split(separator: UInt8(ascii: ",")).map { JSONValue.string(String(Substring($0))) }
            request["events"] = .array(names)
        }
        guard connection.send(request) else { throw .ending }
        // The daemon replies at once, or it ends.
        guard case .line(let line) = connection.next() else { throw .ending }
        guard var status = try? JSONValue.parse(line) else { throw .ending }
        if let message = status["error"]?["message"]?.string { throw WebRefusal(400, "bad-request", message) }
        status["id"] = nil
        waiting = Self.event("status", status)
    }

    /// Returns an event in the form of a stream.
    static func event(_ name: String, _ value: JSONValue) -> [UInt8] {
        // The text of a JSON value has no line end.
        Array("event: \(name)\ndata: \(value.serialized())\n\n".utf8)
    }

    /// Fills the buffer with the next bytes. Blocks until there are some.
    /// - Returns: 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if sent == waiting.count {
            sent = 0
            switch connection.next() {
            case .end: return 0
            case .nothing: waiting = Array(": \n\n".utf8)
            case .line(let line):
                guard let value = try? JSONValue.parse(line), let name = value["event"]?.string else { return 0 }
                waiting = Self.event(name, value)
            }
        }
        let count = min(buffer.count, waiting.count - sent)
        buffer.copyBytes(from: waiting[sent..<(sent + count)])
        sent += count
        return count
    }
}
