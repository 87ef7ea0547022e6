import Foundation
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Logging in to the origin, with curl")
struct LoginPageTests {
    private static let grant = "urn:ietf:params:oauth:grant-type:device_code"
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder["music"], withIntermediateDirectories: true)
        try Music(frames: 5000).writeFLAC(to: folder["music/a.flac"])
    }

    private func start(password: String?, _ options: [String] = []) throws -> RunningOrigin {
        guard let password else {
            return try RunningOrigin(folder["music"], state: folder["state"], "--require-login")
        }
        try Data("\(password)\n".utf8).write(to: URL(fileURLWithPath: folder["password"]))
        return try RunningOrigin(
            folder["music"], state: folder["state"], options: ["--password-file", folder["password"]] + options)
    }

    private func post(_ origin: RunningOrigin, _ path: String, _ fields: [(String, String)]) throws -> Fetched {
        try Fetched(origin.address + path, "--data", FormText.text(of: fields.map { (name: $0.0, value: $0.1) }))
    }

    private func begin(_ origin: RunningOrigin) throws -> (device: String, user: String) {
        let json = try post(origin, "/v1/oauth2/device_authorization", [("client_id", "kitchen <1>")]).json()
        #expect(json["verification_uri"]?.string == "\(origin.address)/link")
        #expect(json["expires_in"]?.integer == 600 && json["interval"]?.integer == 5)
        let code = try #require(json["user_code"]?.string)
        #expect(json["verification_uri_complete"]?.string == "\(origin.address)/link?code=\(code)")
        return (try #require(json["device_code"]?.string), code)
    }

    private func poll(_ origin: RunningOrigin, _ code: String) throws -> Fetched {
        try post(
            origin, "/v1/oauth2/token",
            [("grant_type", Self.grant), ("client_id", "kitchen <1>"), ("device_code", code)])
    }

    private func run(_ words: String...) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        try OriginTests.run("\(Folder.containing(tests))/tonearm-origin", words + ["--state", folder["state"]])
    }

    @Test("With the owner's password on the page, a player gets tokens, and music with them")
    func page() throws {
        let origin = try start(password: "open sesame")
        let music = "\(origin.address)/v1/tracks/1/playbackinfo"
        #expect(try Fetched(music).status == 401)
        let code = try begin(origin)
        #expect(try poll(origin, try begin(origin).device).json()["error"]?.string == "authorization_pending")
        let page = try Fetched("\(origin.address)/link?code=\(code.user)")
        #expect(page.text.contains("value=\"\(code.user)\"") && page.text.contains("name=\"password\""))
        #expect(page.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        func decide(_ password: String, _ code: String) throws -> Fetched {
            try post(origin, "/link", [("code", code), ("password", password), ("decision", "allow")])
        }
        #expect(try decide("wrong", code.user).status == 403)
        #expect(try decide("open sesame", "BBBB-BBBB").status == 404)
        let done = try decide("open sesame", code.user.lowercased())
        #expect(done.status == 200 && done.text.contains("kitchen &lt;1&gt; may play"))
        #expect(try decide("open sesame", code.user).status == 404)
        let answer = try poll(origin, code.device)
        #expect(answer.headers["cache-control"] == "no-store")
        let json = try answer.json()
        #expect(json["token_type"]?.string == "Bearer" && json["expires_in"]?.integer == 3600)
        let access = try #require(json["access_token"]?.string)
        #expect(try Fetched(music, "-H", "Authorization: Bearer \(access)").status == 200)
        let refreshed = try post(
            origin, "/v1/oauth2/token",
            [
                ("grant_type", "refresh_token"), ("client_id", "kitchen <1>"),
                ("refresh_token", try #require(json["refresh_token"]?.string)),
            ]
        ).json()
        let newAccess = try #require(refreshed["access_token"]?.string)
        #expect(try Fetched(music, "-H", "Authorization: Bearer \(newAccess)").status == 200)
        #expect(try post(origin, "/v1/oauth2/revoke", [("token", newAccess)]).status == 200)
        #expect(try Fetched(music, "-H", "Authorization: Bearer \(newAccess)").status == 401)
    }

    @Test("Behind a proxy that serves it below a path, the page leads back to itself")
    func proxy() throws {
        let base = "https://nas.example/music"
        let origin = try start(password: "open sesame", ["--public-url", "\(base)/"])
        /// The address that the proxy requests.
        func behind(_ address: String) throws -> String {
            guard address.hasPrefix("\(base)/") else { throw Unexpected("not below \(base): \(address)") }
            return String(address.dropFirst(base.count))
        }
        let json = try post(origin, "/v1/oauth2/device_authorization", [("client_id", "kitchen <1>")]).json()
        #expect(json["verification_uri"]?.string == "\(base)/link")
        let code = try #require(json["user_code"]?.string)
        var address = try #require(json["verification_uri_complete"]?.string)
        #expect(address == "\(base)/link?code=\(code)")
        var page = try Fetched(origin.address + behind(address))
        // The page of a mistake has the form once more.
        for (password, status) in [("wrong", 403), ("open sesame", 200)] {
            let start = try #require(page.text.range(of: " action=\"")).upperBound
            let action = String(page.text[start...].prefix { $0 != "\"" })
            address = try #require(URL(string: action, relativeTo: URL(string: address))).absoluteString
            page = try post(
                origin, try behind(address), [("code", code), ("password", password), ("decision", "allow")])
            #expect(page.status == status)
        }
        #expect(page.text.contains("kitchen &lt;1&gt; may play"))
        #expect(try poll(origin, try #require(json["device_code"]?.string)).status == 200)
    }

    @Test("Without a password the owner decides on the origin's machine")
    func console() throws {
        let origin = try start(password: nil)
        let (code, denied) = (try begin(origin), try begin(origin))
        let page = try Fetched("\(origin.address)/link?code=\(code.user)")
        #expect(page.text.contains("tonearm-origin approve \(code.user)") && !page.text.contains("<form"))
        let posted = try post(origin, "/link", [("code", code.user), ("password", ""), ("decision", "allow")])
        #expect(!posted.text.contains("may play"))
        try run("approve", code.user)
        try run("deny", denied.user)
        #expect(throws: Unexpected.self) { try run("approve", code.user) }
        #expect(try poll(origin, denied.device).json()["error"]?.string == "access_denied")
        let access = try #require(try poll(origin, code.device).json()["access_token"]?.string)
        let list = "\(origin.address)/v1/tracks"
        #expect(try Fetched(list, "-H", "Authorization: Bearer \(access)").status == 200)
        try run("logout", "1")
        #expect(try Fetched(list, "-H", "Authorization: Bearer \(access)").status == 401)
    }

    @Test("Wrong passwords are slowed down, for right ones, too")
    func guessing() throws {
        let origin = try start(password: "x")
        let code = try begin(origin)
        let statuses = try (0..<7).map { index in
            try post(
                origin, "/link",
                [("code", code.user), ("password", index < 5 ? "y" : "x"), ("decision", "allow")]
            ).status
        }
        #expect(statuses == [403, 403, 403, 403, 403, 429, 429])
    }

    @Test(
        "Requests that are wrong",
        arguments: [
            ("/v1/oauth2/device_authorization", "x=1", 400, "invalid_request"),
            ("/v1/oauth2/device_authorization", "client_id=", 400, "invalid_request"),
            ("/v1/oauth2/device_authorization", "client_id=%0A", 400, "invalid_request"),
            ("/v1/oauth2/device_authorization", "client_id=%FF", 400, "invalid_request"),
            ("/v1/oauth2/token", "client_id=a&grant_type=password", 400, "unsupported_grant_type"),
            ("/v1/oauth2/token", "client_id=a&grant_type=refresh_token", 400, "invalid_request"),
            ("/v1/oauth2/token", "client_id=a&grant_type=refresh_token&refresh_token=a", 400, "invalid_grant"),
            ("/v1/oauth2/token", "grant_type=refresh_token&refresh_token=a", 400, "invalid_request"),
            ("/v1/oauth2/revoke", "a=b", 400, "invalid_request"), ("/v1/tracks", "a=b", 405, nil),
        ])
    func wrongRequests(path: String, body: String, status: Int, error: String?) throws {
        let origin = try start(password: nil)
        let answer = try Fetched(origin.address + path, "--data", body)
        #expect(answer.status == status)
        #expect(try answer.json()["error"]?.string == error)
    }

    @Test("A body that is too large is refused")
    func tooLarge() throws {
        let origin = try start(password: nil)
        let body = "client_id=a&x=" + String(repeating: "a", count: 20_000)
        #expect(try Fetched("\(origin.address)/v1/oauth2/token", "--data", body).status == 413)
    }
}
