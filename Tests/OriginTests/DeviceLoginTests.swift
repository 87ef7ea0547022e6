import Database
import Platform
import TestSupport
import Testing

@testable import OriginService

@Suite("Device authorization in the origin (RFC 8628)")
struct DeviceLoginTests {
    private let folder: ScratchFolder
    private let logins: DeviceLogins

    init() throws {
        folder = try ScratchFolder()
        logins = DeviceLogins(try IssuedLogins(in: folder.path))
    }

    private func begin(_ client: String = "player", at now: Int64 = 0) throws -> DeviceLogins.DeviceCode {
        try #require(try logins.begin(client: client, at: now))
    }

    private func poll(
        _ code: DeviceLogins.DeviceCode, at now: Int64, client: String = "player"
    ) throws -> DeviceLogins.Refusal? {
        switch try logins.tokens(forDevice: code.deviceCode, client: client, at: now) {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }

    private func logIn(at now: Int64 = 0) throws -> DeviceLogins.Tokens {
        let code = try begin(at: now)
        #expect(try logins.decide(code.userCode, isAllowed: true, at: now) == "player")
        return try logins.tokens(forDevice: code.deviceCode, client: "player", at: now).get()
    }

    @Test("Waiting, too fast, and then let in, once")
    func allowed() throws {
        let code = try begin()
        #expect(try poll(code, at: 0) == .authorizationPending)
        #expect(try poll(code, at: 4) == .slowDown)
        // Now 10 s apart.
        #expect(try poll(code, at: 13) == .slowDown)
        // Now 15 s apart.
        #expect(try poll(code, at: 28) == .authorizationPending)
        #expect(try logins.decide(code.userCode, isAllowed: true, at: 30) == "player")
        #expect(try poll(code, at: 43) == nil)
        #expect(try poll(code, at: 60) == .invalidGrant)
        #expect(try logins.logins() == [.init(id: 1, client: "player", created: 43)])
    }

    @Test("Refused, expired, of another client, unknown")
    func refused() throws {
        let denied = try begin()
        #expect(try logins.decide(denied.userCode, isAllowed: false, at: 0) == "player")
        #expect(try logins.decide(denied.userCode, isAllowed: true, at: 0) == nil)
        #expect(try poll(denied, at: 0) == .accessDenied)
        let late = try begin()
        #expect(try poll(late, at: 600) == .authorizationPending)
        #expect(try poll(late, at: 601) == .expiredToken)
        #expect(try logins.decide(late.userCode, isAllowed: true, at: 601) == nil)
        #expect(try poll(try begin(at: 700), at: 700, client: "other") == .invalidGrant)
        #expect(try poll(.init(deviceCode: "x", userCode: ""), at: 700) == .invalidGrant)
    }

    @Test("Not more than 32 wait at once, until theirs expire")
    func limit() throws {
        for _ in 0..<32 { _ = try begin() }
        #expect(try logins.begin(client: "player", at: 600) == nil)
        #expect(try logins.begin(client: "player", at: 601) != nil)
    }

    @Test("An access token is good for an hour, and a refresh token is none")
    func access() throws {
        let tokens = try logIn(at: 1000)
        #expect(try logins.client(of: tokens.access, at: 1000) == "player")
        #expect(try logins.isValid(tokens.access, at: 1000 + 3600))
        #expect(try !logins.isValid(tokens.access, at: 1001 + 3600))
        #expect(try !logins.isValid(tokens.refresh, at: 1000))
        #expect(try !logins.isValid("", at: 1000))
    }

    @Test("Refreshing rotates; an answer that was lost can be asked for again")
    func rotation() throws {
        let first = try logIn()
        let lost = try logins.tokens(forRefresh: first.refresh, client: "player", at: 10).get()
        let second = try logins.tokens(forRefresh: first.refresh, client: "player", at: 11).get()
        #expect(Set([first.refresh, lost.refresh, second.refresh]).count == 3)
        #expect(try logins.isValid(second.access, at: 12) && logins.isValid(first.access, at: 12))
        let third = try logins.tokens(forRefresh: second.refresh, client: "player", at: 13).get()
        #expect(try logins.isValid(third.access, at: 14))
    }

    @Test("A refresh token that is used after its successor ends the login")
    func reuse() throws {
        let first = try logIn()
        let second = try logins.tokens(forRefresh: first.refresh, client: "player", at: 10).get()
        #expect(try logins.isValid(second.access, at: 11))
        #expect(try logins.tokens(forRefresh: first.refresh, client: "player", at: 12) == .failure(.invalidGrant))
        #expect(try !logins.isValid(second.access, at: 13))
        #expect(try logins.tokens(forRefresh: second.refresh, client: "player", at: 13) == .failure(.invalidGrant))
        #expect(try logins.logins().isEmpty)
    }

    @Test("A refresh token is good for its client alone, and for 180 days from the last refresh on")
    func refreshLife() throws {
        let first = try logIn()
        #expect(try logins.tokens(forRefresh: first.refresh, client: "other", at: 1) == .failure(.invalidGrant))
        let day: Int64 = 86_400
        let second = try logins.tokens(forRefresh: first.refresh, client: "player", at: 180 * day).get()
        #expect(try logins.tokens(forRefresh: second.refresh, client: "player", at: 360 * day).get() != second)
        let third = try logIn(at: 400 * day)
        #expect(
            try logins.tokens(forRefresh: third.refresh, client: "player", at: 580 * day + 1)
                == .failure(.invalidGrant))
    }

    @Test("Logging out, by either token or by the owner, ends it")
    func logOut() throws {
        let (first, second, third) = (try logIn(), try logIn(), try logIn())
        try logins.revoke(first.access)
        try logins.revoke(second.refresh)
        try logins.revoke("unknown")
        #expect(try !logins.isValid(first.access, at: 1) && !logins.isValid(second.access, at: 1))
        #expect(try logins.isValid(third.access, at: 1))
        try logins.end(3)
        #expect(try !logins.isValid(third.access, at: 1))
        #expect(throws: ContentOrigin.Failure.self) { try logins.end(3) }
    }

    @Test("Neither tokens nor device codes are in the file")
    func hashes() throws {
        let code = try begin()
        let tokens = try logIn()
        let bytes =
            try File.contents(of: folder["logins.db"], limit: 1 << 20)
            + File.contents(of: folder["logins.db-wal"], limit: 1 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(code.userCode))
        for secret in [code.deviceCode, tokens.access, tokens.refresh] { #expect(!text.contains(secret)) }
    }

    @Test(
        "Codes are typed with or without the dash, in any case",
        arguments: [
            ("WDJB-MJHT", "WDJBMJHT"), ("wdjb mjht", "WDJBMJHT"), (" WDJBMJHT. ", "WDJBMJHT"), ("WDJB-MJH", nil),
            ("WDJB-MJHTX", nil), ("", nil),
        ])
    func userCodes(text: String, code: String?) {
        #expect(UserCode.read(text) == code)
    }

    @Test("New codes differ, and are read as they are shown")
    func newCodes() {
        let codes = (0..<200).map { _ in UserCode.make(SystemRandomSource()) }
        #expect(Set(codes).count == 200)
        for code in codes { #expect(UserCode.read(UserCode.shown(code)) == code) }
    }

    @Test("Five wrong passwords, then one a minute, until a right one")
    func attempts() {
        var limit = AttemptLimit()
        for _ in 0..<5 {
            #expect(limit.allowsAttempt(at: 100))
            limit.failed(at: 100)
        }
        #expect(!limit.allowsAttempt(at: 159) && limit.allowsAttempt(at: 160))
        // A clock that was set back must not lock the owner out.
        #expect(limit.allowsAttempt(at: 50))
        limit.failed(at: 160)
        #expect(!limit.allowsAttempt(at: 219))
        limit.succeeded()
        #expect(limit.allowsAttempt(at: 161))
    }
}
