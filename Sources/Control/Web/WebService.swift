import Appliance
import HTTPServer
import Platform

/// Answers requests: with the page's files, and under `/api/` as the interface for programs (docs/web.md,
/// docs/openapi.json).
///
/// Thread: those of the web server's connections, which may block.
struct WebService: Sendable {
    /// The name of the appliance, for the page's title.
    let name: String
    let guardian: WebGuard
    let logins: WebLogins
    let files: PageFiles
    let pictures: WebPictures
    let folders: MusicFolders
    let connections: ControlConnections
    /// The redirection of users in the machine's own network; nil if the machine has none.
    let captive: CaptivePage?

    /// The headers of the page. They forbid content of other sites, scripts in the page's text, and frames of other
    /// sites around it.
    private static let headers = [
        HTTPField("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
        HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Referrer-Policy", "no-referrer"),
        // Prevents pages of other sites from finding out whether a picture exists.
        HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
    ]

    /// The service in the form that the server needs.
    var service: HTTPService {
        var service = HTTPService { request in answer(request) }
        service.bodyLimit = { path in path.utf8.starts(with: "/api/".utf8) ? WebRequest.bodyLimit : 0 }
        service.refuse = { refusal, path in
            let methods = Self.methods(of: path)
            var answer =
                switch refusal {
                case .tooLarge where methods.contains { $0.utf8.elementsEqual("POST".utf8) }:
                    WebRefusal(413, "too-long", "the body must not be longer than \(WebRequest.bodyLimit) bytes").answer
                case .method, .tooLarge: WebRefusal.method(methods).answer
                case .malformed(let mistake): WebRefusal(400, "bad-request", mistake).answer
                }
            answer.headers += Self.headers
            return answer
        }
        return service
    }

    func answer(_ request: HTTPRequest) -> HTTPAnswer {
        var answer: HTTPAnswer
        do throws(WebRefusal) { answer = try self.route(request) } catch { answer = error.answer }
        answer.headers += Self.headers
        return answer
    }

    private static func methods(of path: String) -> [String] {
        func isNamed(_ text: StaticString) -> Bool { text.withUTF8Buffer { path.utf8.elementsEqual($0) } }
        // `events` is also a request of the control protocol, which uses POST.
        if isNamed("/api/events") { return ["GET", "POST"] }
        let isRequest = path.utf8.starts(with: "/api/".utf8) && !isNamed("/api/session") && !isNamed("/api/cover")
        return isRequest ? ["POST"] : ["GET", "HEAD"]
    }

    private func route(_ request: HTTPRequest) throws(WebRefusal) -> HTTPAnswer {
        let allowed = Self.methods(of: request.path)
        let refusal = guardian.refusal(of: request, isPrivate: request.connection?.isPeerPrivate ?? true)
        if let refusal, refusal.isOfHost, let answer = captive?.answer(to: request) { return answer }
        guard allowed.contains(where: { $0.utf8.elementsEqual(request.method.utf8) }) else { throw .method(allowed) }
        if let refusal { throw refusal }
        let start = "/api/"
        guard request.path.utf8.starts(with: start.utf8) else {
            guard let resource = files.resource(for: request) else { throw .noSuchPage }
            return resource.answer(to: request)
        }
        let name = String(decoding: request.path.utf8.dropFirst(start.utf8.count), as: UTF8.self)
        func isNamed(_ text: StaticString) -> Bool { text.withUTF8Buffer { name.utf8.elementsEqual($0) } }
        if isNamed("session") { return session(request) }
        if isNamed("login") { return try logins.login(request) }
        guard let rights = logins.rights(of: request) else { throw .loginNeeded }
        if isNamed("cover") { return try pictures.answer(to: request) }
        if isNamed("events"), !request.method.utf8.elementsEqual("POST".utf8) { return try events(request, rights) }
        if isNamed("logout") {
            _ = try WebRequest.fields(of: request.body)
            return logins.logout(request)
        }
        let command = try WebRequest(name, body: request.body, in: folders)
        do throws(WebRefusal) {
            return try command.answer(connections, session: logins.session(of: request), rights: rights)
        } catch {
            // The rights may have changed, because another tab may have logged out meanwhile.
            throw logins.rights(of: request) == rights ? error.remedied(hasPassword: logins.hasPassword) : .loginNeeded
        }
    }

    private func session(_ request: HTTPRequest) -> HTTPAnswer {
        let rights = logins.rights(of: request)
        return .json([
            "ok": true, "token": .string(guardian.token), "name": .string(name), "login": .boolean(rights == nil),
            "rights": .array((rights?.names ?? []).map { .string($0) }), "password": .boolean(logins.hasPassword),
            "problem": JSONValue(logins.problem),
        ])
    }

    private func events(_ request: HTTPRequest, _ rights: ClientRights) throws(WebRefusal) -> HTTPAnswer {
        let stream = try WebEventStream(
            connections, events: request.query["events"], showsLife: request.query["alive"] != nil,
            session: logins.session(of: request), rights: rights
        ) { [logins] in logins.rights(of: request) != nil }
        var answer = HTTPAnswer(headers: [
            HTTPField("Content-Type", "text/event-stream"), HTTPField("Cache-Control", "no-store"),
            // Proxies such as nginx would keep events back until they fill a buffer.
            HTTPField("X-Accel-Buffering", "no"),
        ])
        answer.stream = HTTPStream { stream.read(into: $0) }
        return answer
    }
}
