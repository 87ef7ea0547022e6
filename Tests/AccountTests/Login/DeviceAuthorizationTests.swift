import PlayerTestSupport
import Testing

@testable import Account
@testable import Player

@Suite("Login without a browser (RFC 8628)")
struct DeviceAuthorizationTests {
    typealias Event = DeviceAuthorization.Event
    typealias Effect = DeviceAuthorization.Effect

    private static let code = """
        {"device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": "https://nas/link",
         "verification_uri_complete": "https://nas/link?code=WDJB-MJHT", "expires_in": 100, "interval": 5}
        """
    private static let prompt = LoginPrompt(
        code: "WDJB-MJHT", address: "https://nas/link", completeAddress: "https://nas/link?code=WDJB-MJHT", life: 100)

    private static func answered(_ status: Int, _ body: String) -> Event {
        .answered(status: status, body: Array(body.utf8))
    }

    private static func error(_ name: String, _ status: Int = 400) -> Event {
        answered(status, "{\"error\": \"\(name)\"}")
    }

    /// A login that waits for the owner; the code is good until 100.
    private func waiting() -> DeviceAuthorization {
        var login = DeviceAuthorization()
        #expect(login.handle(.begin, at: 0) == [.send(.deviceCode)])
        #expect(login.handle(Self.answered(200, Self.code), at: 0) == [.show(Self.prompt), .wait(5)])
        return login
    }

    /// The effects after an answer to the first question.
    private func effects(of answer: Event, at now: Int64 = 5) -> [Effect] {
        var login = waiting()
        #expect(login.handle(.timeIsUp, at: 5) == [.send(.token(deviceCode: "d"))])
        return login.handle(answer, at: now)
    }

    @Test("The owner lets the player in")
    func allowed() {
        var login = waiting()
        #expect(login.handle(.timeIsUp, at: 5) == [.send(.token(deviceCode: "d"))])
        #expect(login.handle(Self.error("authorization_pending"), at: 5) == [.wait(5)])
        #expect(login.handle(.timeIsUp, at: 10) == [.send(.token(deviceCode: "d"))])
        let body = "{\"access_token\": \"a\", \"refresh_token\": \"r\", \"token_type\": \"bearer\", \"expires_in\": 9}"
        #expect(
            login.handle(Self.answered(200, body), at: 10) == [.finish(LoginTokens(access: "a", refresh: "r"))])
        #expect(login.handle(.timeIsUp, at: 15) == [])
    }

    @Test("Each slow_down adds 5 s for good; failures double the time; neither goes beyond 300 s")
    func intervals() {
        var login = DeviceAuthorization()
        _ = login.handle(.begin, at: 0)
        _ = login.handle(Self.answered(200, Self.code.replacing("100", with: "86400")), at: 0)
        var waits: [Int64] = []
        let answers = [
            Self.error("slow_down"), Self.error("authorization_pending"), Self.error("slow_down"),
            .failed("no network"), Self.answered(503, ""), Self.answered(429, ""), Self.error("slow_down"),
            .failed("no network"), .failed("no network"),
        ]
        for answer in answers {
            _ = login.handle(.timeIsUp, at: 100)
            for case .wait(let time) in login.handle(answer, at: 100) { waits.append(time) }
        }
        #expect(waits == [10, 10, 15, 30, 60, 120, 125, 250, 300])
    }

    @Test("The last question is at the end of the code, and then it is over")
    func expiry() {
        var login = waiting()
        _ = login.handle(.timeIsUp, at: 97)
        #expect(login.handle(Self.error("authorization_pending"), at: 97) == [.wait(3)])
        #expect(login.handle(.timeIsUp, at: 100) == [.send(.token(deviceCode: "d"))])
        #expect(login.handle(Self.error("authorization_pending"), at: 100) == [.fail(.expired)])
        #expect(effects(of: .failed("no network"), at: 200) == [.fail(.expired)])
    }

    @Test(
        "How it ends",
        arguments: [
            (error("access_denied"), LoginFailure.denied), (error("access_denied", 403), .denied),
            (error("expired_token"), .expired), (error("invalid_grant"), .refused("the code is not good any more")),
            (error("invalid_client", 401), .refused("status 401, invalid_client")),
            (answered(403, #"{"status": 403, "userMessage": "No."}"#), .refused("status 403, No.")),
            (answered(200, "{}"), .notUnderstood), (answered(200, "{\"access_token\": \"a b\"}"), .notUnderstood),
            (answered(200, "{\"access_token\": \"a\", \"token_type\": \"mac\"}"), .notUnderstood),
        ])
    func ends(answer: Event, failure: LoginFailure) {
        #expect(effects(of: answer) == [.fail(failure)])
    }

    @Test(
        "Another answer than the service's does not end it, because the service has given the code",
        arguments: [
            answered(400, "<html>"), answered(200, "<html>"), answered(200, ""), answered(404, ""), answered(302, ""),
            answered(204, ""), answered(403, #"{"error": "blocked"}"#), answered(401, "{}"),
        ])
    func foreign(answer: Event) {
        #expect(effects(of: answer) == [.wait(10)])
    }

    @Test(
        "Answers to the first request that end it",
        arguments: [
            (Event.failed("no network"), LoginFailure.unreachable("no network")),
            (answered(404, ""), .refused("it has no login (status 404)")),
            (answered(405, "{\"status\": 405}"), .refused("it has no login (status 405)")),
            (error("invalid_client", 401), .refused("status 401, invalid_client")),
            (answered(429, "{\"userMessage\": \"Wait.\"}"), .refused("status 429, Wait.")),
            (answered(200, "[]"), .notUnderstood),
            (answered(200, "{\"device_code\": \"d\", \"user_code\": \"\"}"), .notUnderstood),
            (answered(200, code.replacing("100", with: "-1")), .notUnderstood),
            (answered(200, code.replacing("https", with: "\\u001b")), .notUnderstood),
        ])
    func firstAnswers(answer: Event, failure: LoginFailure) {
        var login = DeviceAuthorization()
        _ = login.handle(.begin, at: 0)
        #expect(login.handle(answer, at: 0) == [.fail(failure)])
    }

    @Test(
        "Intervals and lives that a service may say",
        arguments: [
            ("5", "100", 5, 100), ("0", "100", 1, 100), ("1e300", "1e300", 300, 86_400), ("-7", "1", 1, 1),
            ("\"x\"", "100", 5, 100), ("2.9", "10.5", 2, 10),
        ])
    func numbers(interval: String, life: String, seconds: Int64, end: Int64) throws {
        let body = Self.code.replacing("\"interval\": 5", with: "\"interval\": \(interval)")
            .replacing("100", with: life)
        let answer = try #require(DeviceCodeAnswer(parsing: Array(body.utf8)))
        #expect(answer.interval == seconds && answer.life == end)
    }

    @Test("A refresh token stays when the service gives no other one")
    func refreshStays() {
        let body = Array("{\"access_token\": \"a\"}".utf8)
        #expect(
            LoginTokens(parsing: body, previous: LoginTokens(access: "old", refresh: "r", user: "u"))
                == LoginTokens(access: "a", refresh: "r", user: "u"))
        #expect(LoginTokens(parsing: body)?.refresh == nil)
    }

    @Test("Requests have the client's name, and are escaped")
    func requests() throws {
        let settings = ServiceSettings(baseURL: "https://nas/x/", clientName: "a&b")
        let request = LoginRequest.refresh("r+/=").transfer(settings)
        #expect(request.url == "https://nas/x/v1/oauth2/token" && !request.isRedirectAllowed)
        guard case .post(let body, let type) = request.method else { throw Missing() }
        #expect(type == "application/x-www-form-urlencoded")
        #expect(
            String(decoding: body, as: UTF8.self)
                == "grant_type=refresh_token&refresh_token=r%2B%2F%3D&client_id=a%26b")
    }

    private struct Missing: Error {}
}
