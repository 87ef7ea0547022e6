import Appliance
import HTTPServer
import Platform

/// The reason why the web server refuses a request.
struct WebRefusal: Error, Equatable {
    var status: Int
    /// The reason for programs. docs/web.md lists the codes that are not in docs/control.md.
    var code: String
    /// The message for the user.
    var message: String
    private var allowedMethods: String?
    /// The time after which the client may retry, in seconds.
    var retryAfter: Int?

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static let noSuchPage = WebRefusal(404, "no-such-page", "there is no such page")
    static let loginNeeded = WebRefusal(401, "login", "log in first: a password is set ([web] password-file)")
    /// - Parameter reason: the message, with what guests may do instead.
    static func guest(_ reason: String) -> WebRefusal { WebRefusal(403, guestCode, reason) }
    private static let guestCode = RemoteFailure.Reason.guest.rawValue
    static let foreignHost = WebRefusal(
        421, "host", "this name is not known to be of this machine: use its address, or set [web] names")
    static let ending = WebRefusal(503, "system", "the daemon ends: ask again when it runs")

    /// - Parameter allowed: the methods that the path has.
    static func method(_ allowed: [String]) -> WebRefusal {
        let names = allowed.joined(separator: ", ")
        var refusal = WebRefusal(405, "method", "only these methods are allowed here: \(names)")
        refusal.allowedMethods = names
        return refusal
    }

    /// Whether the host of the request is that of another machine.
    var isOfHost: Bool { code.utf8.elementsEqual(Self.foreignHost.code.utf8) }

    /// Returns the refusal. If it refuses a guest, its message also says how to get more rights.
    func remedied(hasPassword: Bool) -> WebRefusal {
        guard code.utf8.elementsEqual(Self.guestCode.utf8) else { return self }
        if hasPassword { return WebRefusal(401, "login", message + " ([web] guests): log in first") }
        return .guest(
            message + " ([web] guests). The rest needs a password, and none is set: set [web] password-file; on an "
                + "image write password.txt beside tonearm.conf")
    }

    var answer: HTTPAnswer {
        var answer = HTTPAnswer.json(
            ["ok": false, "error": ["code": .string(code), "message": .string(message)]], status: status)
        if let retryAfter { answer.headers.append(HTTPField("Retry-After", "\(retryAfter)")) }
        // RFC 9110, 15.5.6.
        if let allowedMethods { answer.headers.append(HTTPField("Allow", allowedMethods)) }
        return answer
    }

    /// Returns the status for the code of an error of the control protocol.
    static func status(ofCode code: String) -> Int {
        func isOne(_ codes: String...) -> Bool { codes.contains { $0.utf8.elementsEqual(code.utf8) } }
        if isOne("bad-json", "bad-request", "bad-setting") { return 400 }
        if isOne("no-such-entry", "no-such-playlist", "no-such-file", "no-music") { return 404 }
        if isOne("too-long") { return 413 }
        if isOne("system", "too-many-clients", "idle") { return 503 }
        return 409
    }
}
