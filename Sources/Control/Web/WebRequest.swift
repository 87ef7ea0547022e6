import Appliance
import HTTPServer
import Platform

/// A request of the control protocol over HTTP: `POST /api/NAME`, with its fields as the body.
struct WebRequest {
    /// The most bytes of a body: the limit of a line, less the room for the name of the request.
    static let bodyLimit = LineConnection.lineLimit - 256
    /// The maximum time of a request, in seconds. Verifying a whole offline copy takes less.
    static let patience = 300

    /// Requests that belong to a connection, or to programs of this machine.
    private static let excluded = [
        "subscribe", "unsubscribe", "queue-collect", "focus", "power", "loudness-known", "loudness-keep",
    ]

    /// The names of the requests.
    static var names: [String] {
        RemoteRequest.names.filter { name in !excluded.contains { $0.utf8.elementsEqual(name.utf8) } }
    }

    /// The request as a line of the control protocol.
    let line: JSONValue

    /// - Parameters:
    ///   - body: the fields as a JSON object; an empty body has none.
    ///   - folders: the folders whose files the request may name.
    init(_ name: String, body: [UInt8], in folders: MusicFolders) throws(WebRefusal) {
        guard Self.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
            throw WebRefusal(404, "bad-request", RequestMistake.unknownRequest(name).description)
        }
        let members = try Self.fields(of: body)
        for reserved in ["id", "request"] where members.contains(where: { $0.name.utf8.elementsEqual(reserved.utf8) }) {
            throw WebRefusal(400, "bad-request", "unknown field \(reserved)")
        }
        for product in RequestFields(members: members).value("products")?.elements ?? [] {
            guard let path = product["path"]?.string, path.utf8.first == UInt8(ascii: "/") else { continue }
            guard folders.contains(path) else {
                throw WebRefusal(404, "no-such-file", "\(path): not in the folders of the library")
            }
        }
        line = .object([JSONValue.Member("request", .string(name))] + members)
    }

    /// Reads the object of a body; an empty body has no members.
    static func fields(of body: [UInt8]) throws(WebRefusal) -> [JSONValue.Member] {
        if body.isEmpty { return [] }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue.parse(body, depthLimit: 8) } catch {
            throw WebRefusal(400, "bad-json", "not JSON: \(error.description)")
        }
        guard let fields = value.members else {
            throw WebRefusal(400, "bad-json", "the body must be an object with the request's fields")
        }
        return fields
    }

    /// Sends the request to the daemon, and waits for its reply.
    /// - Parameters:
    ///   - session: the session whose end cancels the request; nil for none.
    ///   - rights: the rights of the browser.
    func answer(
        _ connections: ControlConnections, session: WebSessionRows.Hash?, rights: ClientRights
    ) throws(WebRefusal) -> HTTPAnswer {
        let connection: ControlConnection
        do throws(SystemError) {
            connection = try connections.connect(seconds: Self.patience, session: session, rights: rights)
        } catch {
            throw WebRefusal(503, "system", error.description)
        }
        guard connection.send(line) else { throw .ending }
        switch connection.next() {
        case .end: throw .ending
        case .nothing:
            throw WebRefusal(504, "system", "the request took longer than \(Self.patience) s: it was cancelled")
        case .line(let line): return try Self.answer(of: line)
        }
    }

    /// Returns whether the line of a reply reports success.
    static func isSuccess(_ line: [UInt8]) -> Bool { line.starts(with: #"{"ok":true"#.utf8) }

    /// Makes the answer from the line of a reply. The line is the body, unchanged. Only a refusal is parsed, because it
    /// determines the status.
    static func answer(of line: [UInt8]) throws(WebRefusal) -> HTTPAnswer {
        if isSuccess(line) { return .json(line) }
        guard let reply = try? JSONValue.parse(line), let code = reply["error"]?["code"]?.string else {
            throw WebRefusal(500, "system", "the daemon's reply cannot be read")
        }
        if code.utf8.elementsEqual(RemoteFailure.Reason.guest.rawValue.utf8) {
            throw .guest(reply["error"]?["message"]?.string ?? "")
        }
        return .json(line, status: WebRefusal.status(ofCode: code))
    }
}
