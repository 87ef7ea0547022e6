import Appliance
import HTTPServer
import Platform

/// The events of the control protocol as server-sent events (HTML standard, 9.2). The first event is `status`, with the
/// whole status.
///
/// Thread: that of one connection. `@unchecked Sendable` is safe for that reason.
final class WebEventStream: @unchecked Sendable {
    /// The time without an event after which a sign of life is sent, in seconds. Sending reveals whether the client
    /// still exists.
    static let keepAliveSeconds = 15

    private let connection: ControlConnection
    private let signOfLife: [UInt8]
    private let isAllowed: @Sendable () -> Bool
    private var waiting: [UInt8] = []
    private var sent = 0

    /// - Parameters:
    ///   - events: names of events with a comma between two; nil for all.
    ///   - showsLife: whether the sign of life is an event, which scripts see, and not a comment.
    ///   - session: the session whose end ends the stream; nil for none.
    ///   - rights: the rights of the browser.
    ///   - seconds: the time without an event after which a sign of life is sent.
    ///   - isAllowed: returns whether the client may still get events. Called on the stream's thread.
    init(
        _ connections: ControlConnections, events: String?, showsLife: Bool = false,
        session: WebSessionRows.Hash? = nil, rights: ClientRights = .all,
        seconds: Int = WebEventStream.keepAliveSeconds,
        isAllowed: @escaping @Sendable () -> Bool = { true }
    ) throws(WebRefusal) {
        signOfLife = showsLife ? Self.event(Array("alive".utf8), Array("{}".utf8)) : Array(": \n\n".utf8)
        self.isAllowed = isAllowed
        do throws(SystemError) {
            connection = try connections.connect(seconds: seconds, session: session, rights: rights)
        } catch {
            throw WebRefusal(503, "system", error.description)
        }
        var request: JSONValue = ["request": "subscribe"]
        if let events {
            let names = events.utf8.split(separator: UInt8(ascii: ",")).map { JSONValue.string(String(Substring($0))) }
            request["events"] = .array(names)
        }
        guard connection.send(request) else { throw .ending }
        // The daemon replies at once unless it ends.
        guard case .line(let line) = connection.next() else { throw .ending }
        guard WebRequest.isSuccess(line) else {
            guard let message = (try? JSONValue.parse(line))?["error"]?["message"]?.string else { throw .ending }
            throw WebRefusal(400, "bad-request", message)
        }
        waiting = Self.event(Array("status".utf8), line)
    }

    /// Returns an event in the form of a stream.
    /// - Parameter data: a value of JSON without a line end.
    static func event(_ name: some Collection<UInt8>, _ data: [UInt8]) -> [UInt8] {
        Array("event: ".utf8) + name + Array("\ndata: ".utf8) + data + Array("\n\n".utf8)
    }

    /// Returns the name of an event from its line, where it is the first member; nil for any other line.
    static func name(ofEvent line: [UInt8]) -> ArraySlice<UInt8>? {
        let start = Array(#"{"event":"#.utf8) + [UInt8(ascii: "\"")]
        guard line.starts(with: start) else { return nil }
        return line.dropFirst(start.count).prefix { $0 != UInt8(ascii: "\"") }
    }

    /// Fills the buffer with the next bytes. Blocks until there are some.
    /// - Returns: 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if sent == waiting.count {
            sent = 0
            let next = connection.next()
            // The session may have ended meanwhile.
            guard isAllowed() else { return 0 }
            switch next {
            case .end: return 0
            case .nothing: waiting = signOfLife
            case .line(let line):
                guard let name = Self.name(ofEvent: line) else { return 0 }
                waiting = Self.event(name, line)
            }
        }
        let count = min(buffer.count, waiting.count - sent)
        buffer.copyBytes(from: waiting[sent..<(sent + count)])
        sent += count
        return count
    }
}
