import ApplianceTestSupport
import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Account
@testable import Appliance
@testable import Control
@testable import Player
@testable import Streaming

@Suite("The login to the content service by clients")
struct ServiceLoginTests {
    /// A service that lets the player in as soon as the test says so.
    private final class LoginService: Sendable {
        private let decision = Locked<String?>(nil)
        let server: ScriptedServer

        init(interval: Int = 1) {
            let decision = decision
            server = ScriptedServer { connection in
                while let request = connection.request() {
                    let path = request.split(separator: " ")[1]
                    var (status, body) = (200, "{}")
                    if path.hasSuffix("device_authorization") {
                        body = """
                            {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://nas/link",\
                            "verification_uri_complete":"https://nas/link?code=WDJB-MJHT","expires_in":600,\
                            "interval":\(interval)}
                            """
                    } else if path.hasSuffix("token") {
                        let decided = decision.withLock { $0 }
                        status = decided == "allow" ? 200 : 400
                        body =
                            decided == "allow"
                            ? #"{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":900}"#
                            : "{\"error\":\"\(decided ?? "authorization_pending")\"}"
                    }
                    connection.send(
                        "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
        }

        func decide(_ text: String) { decision.withLock { $0 = text } }
    }

    private final class Now: CertificateClock {
        func now() -> CertificateTime { CertificateTime(1_800_000_000, isProved: true) }
        func serverProves(_ seconds: Int64) {}
        func serverReports(_ seconds: Int64) {}
    }

    /// Asks the login of a daemon, on its loop.
    private final class Asking {
        let folder: ScratchFolder
        let daemon: DaemonFixture
        let service: LoginService

        init(_ service: LoginService) throws {
            folder = try ScratchFolder()
            daemon = DaemonFixture(folder: folder["state"])
            self.service = service
            var settings = StreamingSettings(service: ServiceSettings(baseURL: service.server.url("")))
            settings.loginFolder = folder["state"]
            let known = settings
            daemon.prepare = { daemon in
                daemon.openServiceLogin(known) { () throws(ServiceLogin.NetworkProblem) in
                    do throws(NetworkSetupError) {
                        return try ServiceAccount(known, clock: Now())
                    } catch {
                        throw ServiceLogin.NetworkProblem(message: error.description)
                    }
                }
            }
            try daemon.start()
        }

        func ask(_ request: ServiceLogin.Request) -> ServiceLoginStatus { Self.ask(daemon, request) }

        static func ask(_ daemon: DaemonFixture, _ request: ServiceLogin.Request) -> ServiceLoginStatus {
            let done = DispatchSemaphore(value: 0)
            let answer = Locked<ServiceLoginStatus?>(nil)
            daemon.perform { daemon in
                daemon.serviceLogin!.perform(request) { status in
                    answer.withLock { $0 = status }
                    done.signal()
                }
            }
            done.waitOrEndRun("the answer to \(request)")
            return answer.withLock { $0! }
        }
    }

    @Test("The code is shown until the owner has decided; then the login is stored, and a logout removes it")
    func allowed() throws {
        let asking = try Asking(LoginService())
        defer { asking.daemon.end() }
        #expect(asking.ask(.status) == ServiceLoginStatus(service: asking.service.server.url("")))
        let begun = asking.ask(.begin)
        #expect(begun.prompt?.code == "WDJB-MJHT" && !begun.isLoggedIn)
        // Another client sees the same login.
        #expect(asking.ask(.begin) == begun)
        #expect(asking.ask(.status) == begun)
        asking.service.decide("allow")
        // The login is stored a moment before the code is not shown any more.
        let done = ServiceLoginStatus(service: asking.service.server.url(""), isLoggedIn: true)
        expectSoon("the login") { asking.ask(.status) == done }
        // A logout also ends a login that waits.
        asking.service.decide("authorization_pending")
        #expect(asking.ask(.begin).prompt != nil)
        let loggedOut = asking.ask(.logOut)
        #expect(!loggedOut.isLoggedIn && loggedOut.prompt == nil)
    }

    @Test("A login that is refused has a reason; a cancelled one has none, and another one may begin")
    func refused() throws {
        let asking = try Asking(LoginService())
        defer { asking.daemon.end() }
        #expect(asking.ask(.begin).prompt != nil)
        asking.service.decide("access_denied")
        expectSoon("the refusal") { asking.ask(.status).problem?.contains("the owner has refused") == true }
        asking.service.decide("authorization_pending")
        #expect(asking.ask(.begin).prompt != nil)
        let cancelled = asking.ask(.cancel)
        #expect(cancelled.prompt == nil && cancelled.problem == nil && !cancelled.isLoggedIn)
        #expect(asking.ask(.begin).prompt != nil)
        asking.service.decide("allow")
        expectSoon("the login") { asking.ask(.status).isLoggedIn }
    }

    @Test("A service that cannot be asked is a reason; the end of the daemon ends a login that waits")
    func ends() throws {
        let asking = try Asking(LoginService(interval: 300))
        asking.service.decide("nonsense")
        #expect(asking.ask(.begin).prompt != nil)
        asking.daemon.end()
        let daemon = DaemonFixture(folder: asking.folder["other"])
        daemon.prepare = { daemon in
            daemon.openServiceLogin(StreamingSettings(service: ServiceSettings(baseURL: "http://nas"))) {
                () throws(ServiceLogin.NetworkProblem) in throw ServiceLogin.NetworkProblem(message: "no certificates")
            }
        }
        try daemon.start()
        defer { daemon.end() }
        #expect(Asking.ask(daemon, .begin).problem == "no certificates")
        #expect(Asking.ask(daemon, .status).problem == "no certificates")
    }

    @Test("The reply has the QR code of the whole address, row by row")
    func code() throws {
        let prompt = LoginPrompt(code: "C", address: "https://nas/l", completeAddress: "https://nas/l?c=C", life: 60)
        let members = ServiceLoginJSON.members(ServiceLoginStatus(service: "https://nas", prompt: prompt))
        let rows = JSONValue.object(members)["prompt"]?["qr"]?.elements?.compactMap(\.string) ?? []
        let code = try #require(QRCode("https://nas/l?c=C"))
        #expect(rows.count == code.size)
        for (row, text) in rows.enumerated() {
            #expect(text.map { $0 == "1" } == (0..<code.size).map { code.isDark(row: row, column: $0) })
        }
    }
}
