import Foundation
import Network
import Platform
import PlayerTestSupport
import TestSupport
import Testing

@testable import Account
@testable import Fetching
@testable import Playback
@testable import Player
@testable import Streaming

@Suite("Tokens of a login")
struct RefreshingCredentialsTests {
    private let folder: ScratchFolder
    private let store: LoginStore
    private let cancellation: Cancellation

    init() throws {
        folder = try ScratchFolder()
        store = LoginStore(folder: folder.path, service: ServiceSettings(baseURL: "https://nas"))
        cancellation = try Cancellation()
    }

    /// Gives out a2 and r2, a3 and r3…
    private let rotating = ScriptedTokens { count in
        .success((200, "{\"access_token\": \"a\(count + 1)\", \"refresh_token\": \"r\(count + 1)\"}"))
    }

    @Test("The user of a login survives a restart and a refresh; a token of another login has none")
    func user() throws {
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.user(of: nil) == nil)
        try store.save(LoginTokens(access: "a1", refresh: "r1", user: "42"))
        #expect(credentials.user(of: nil) == "42")
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(credentials.user(of: "a2") == "42")
        #expect(credentials.user(of: "a1") == nil)
        #expect(RefreshingCredentials(store, over: rotating).user(of: nil) == "42")
        try store.remove()
        #expect(credentials.user(of: nil) == nil)
        let answers = [#""user_id":42"#, #""user_id":"42""#, #""user_id":"""#, #""user_id":[]"#, #""user":1"#].map {
            LoginTokens(parsing: Array("{\"access_token\":\"a\",\($0)}".utf8))?.user
        }
        #expect(answers == ["42", "42", nil, nil, nil])
    }

    @Test("A login lies on the medium, sealed, for its owner alone")
    func sealed() throws {
        #expect(try store.load() == nil)
        let tokens = LoginTokens(access: "the-access-token", refresh: "the-refresh-token")
        try store.save(tokens)
        #expect(try store.load() == tokens)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["device.key", "login.sealed"])
        for name in names {
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder[name])), as: UTF8.self)
            #expect(!text.contains("-token"))
            let mode = try FileManager.default.attributesOfItem(atPath: folder[name])[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        try store.remove()
        try store.remove()
        #expect(try store.load() == nil)
    }

    @Test("A login of another service, or of another client, is none")
    func otherService() throws {
        try store.save(LoginTokens(access: "a", refresh: nil))
        for service in [
            ServiceSettings(baseURL: "https://other"), ServiceSettings(baseURL: "https://nas", clientName: "x"),
        ] {
            #expect(try LoginStore(folder: folder.path, service: service).load() == nil)
        }
    }

    @Test("A file that is damaged, or of another device, is an error, and no token")
    func damaged() throws {
        try store.save(LoginTokens(access: "a", refresh: "r"))
        try FileManager.default.removeItem(atPath: folder["device.key"])
        #expect(throws: LoginStore.Failure.self) { try store.load() }
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
        #expect(rotating.bodies.isEmpty)
    }

    @Test("A refused token is refreshed once, and the new one is on the medium")
    func refreshes() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a2")
        #expect(rotating.bodies == ["grant_type=refresh_token&refresh_token=r1&client_id=tonearm"])
        #expect(try store.load() == LoginTokens(access: "a2", refresh: "r2"))
    }

    @Test("A refresh of this process is no other login; any other change of the file is one")
    func ownRefresh() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(!store.isOwnRefresh)
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(store.isOwnRefresh && store.isOwnRefresh)
        try store.remove()
        #expect(!store.isOwnRefresh)
        // It may have the number of the former file.
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(!store.isOwnRefresh)
    }

    @Test("A token that another process has refreshed is taken, and not refreshed again")
    func otherProcess() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "b")
        #expect(rotating.bodies.isEmpty)
        try store.remove()
        #expect(try credentials.token(insteadOf: "b", cancellation: cancellation) == nil)
    }

    @Test("A login that comes later is found without a restart")
    func laterLogin() throws {
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
        try store.save(LoginTokens(access: "a1", refresh: nil))
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        // There is no refresh token.
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == nil)
    }

    @Test(
        "A refresh token that the service refuses is not sent again, but a new login is used",
        arguments: [
            (400, "{\"error\": \"invalid_grant\"}"), (401, "{\"error\": \"invalid_client\"}"),
        ])
    func ended(status: Int, body: String) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .success((status, body)) }
        let credentials = RefreshingCredentials(store, over: network)
        for _ in 0..<3 { #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == nil) }
        #expect(network.bodies.count == 1)
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "b")
    }

    @Test(
        "Another answer than the service's ends no login: the refresh token is sent again",
        arguments: [(200, "<html>"), (401, ""), (400, "{}"), (403, "blocked"), (404, "<p>"), (302, "")])
    func foreign(status: Int, body: String) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { count in
            .success(count <= 2 ? (status, body) : (200, #"{"access_token": "a2"}"#))
        }
        let credentials = RefreshingCredentials(store, over: network)
        for _ in 0..<2 {
            #expect(throws: ResourceFailure.refused(ServiceRefusal(status: status))) {
                try credentials.token(insteadOf: "a1", cancellation: cancellation)
            }
        }
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
    }

    @Test("A new login is used from then on, also while the tokens of the old one are good")
    func newLogin() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "b")
        try store.remove()
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
    }

    @Test(
        "Tokens that cannot be saved are used until the process ends, and refreshed with their own refresh token",
        .enabled(if: Medium.isAvailable, "needs root, to mount a medium that becomes read-only"))
    func unsaved() throws {
        let medium = try Medium(at: folder["medium"], kilobytes: 256)
        let store = LoginStore(folder: medium.path, service: store.service)
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        // Created before, because the lock is a file, too.
        _ = try LockFile(store.lockPath)
        medium.fill()
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(try store.load()?.access == "a1", "nothing was saved")
        #expect(try credentials.token(insteadOf: nil, cancellation: cancellation) == "a2")
        #expect(try credentials.token(insteadOf: "a2", cancellation: cancellation) == "a3")
        #expect(rotating.bodies.last?.contains("r2") == true)
        medium.empty()
        #expect(try credentials.token(insteadOf: "a3", cancellation: cancellation) == "a4")
        #expect(try store.load()?.access == "a4")
    }

    @Test("Logging out waits for the daemon that refreshes the login")
    func logOutWaits() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        var settings = StreamingSettings(service: store.service)
        settings.loginFolder = folder.path
        let account = ServiceAccount(settings, over: ScriptedTokens { _ in .success((200, "")) })
        let held = try LockFile(store.lockPath)
        let impatient = try Cancellation()
        impatient.cancel()
        #expect(throws: LoginFailure.cancelled) { try account.logOut(cancellation: impatient) }
        #expect(try store.load() != nil)
        _ = consume held
        #expect(try account.logOut(cancellation: cancellation) == true)
        #expect(try store.load() == nil)
    }

    // MARK: Retries (docs/playback.md, 15.4)

    @Test("It waits through failures of the network and of the server")
    func waits() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { count in
            switch count {
            case 1...8: .failure(.connection(.refused))
            case 9: .success((503, ""))
            default: .success((200, "{\"access_token\": \"a2\"}"))
            }
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(
            network.waits.elements == [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].map { .link($0) }
                + [.time(500)])
        #expect(try store.load() == LoginTokens(access: "a2", refresh: "r1"))
    }

    @Test(
        "A server that always fails: the retries of the request that the token is for, then its refusal",
        arguments: [(.playback, 3), (.offlining, 9), (.command, 3)] as [(RetrySchedule.Purpose, Int)],
        [429, 500, 503])
    func serverFails(use: (purpose: RetrySchedule.Purpose, retries: Int), status: Int) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .success((status, "")) }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(throws: ResourceFailure.refused(ServiceRefusal(status: status))) {
            try credentials.token(
                insteadOf: "a1", for: TokenUse(purpose: use.purpose, cancellation: cancellation))
        }
        #expect(network.bodies.count == use.retries + 1)
        #expect(network.waits.elements == (0..<use.retries).map { .time(500 << Int64($0)) })
        #expect(try store.load() == LoginTokens(access: "a1", refresh: "r1"), "the login is as good as before")
    }

    @Test("The server's Retry-After counts when it is longer")
    func retryAfter() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { count in
            count == 1 ? .success((503, "")) : .success((200, "{\"access_token\": \"a2\"}"))
        }
        network.retryAfter = 7
        let credentials = RefreshingCredentials(store, over: network)
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(network.waits.elements == [.time(7000)])
    }

    @Test("A refresh for a download uses the links that the download may use", arguments: [false, true])
    func links(mayUseMeteredLink: Bool) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .success((200, "{\"access_token\": \"a2\"}")) }
        let use = TokenUse(
            purpose: .offlining, cancellation: cancellation, mayUseMeteredLink: mayUseMeteredLink)
        #expect(try RefreshingCredentials(store, over: network).token(insteadOf: "a1", for: use) == "a2")
        #expect(network.permissions.elements == [mayUseMeteredLink])
    }

    @Test("Another link ends the wait, also one that came during the request, and the delays start over")
    func link() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { count in
            count < 6 ? .failure(.connection(.lost)) : .success((200, "{\"access_token\": \"a2\"}"))
        }
        // In the second and the fourth wait.
        network.waiting = { [unowned network] wait in
            let count = network.waits.elements.count
            if count == 2 { return .linkChanged }
            if count == 4 { network.changeLink() }
            return .timeElapsed
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(try credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(network.waits.elements == [500, 1000, 500, 1000, 500].map { .link($0) })
    }

    @Test(
        "A refusal that waiting does not change is an error at once",
        arguments: [TransferError.tls(.expired), .malformedAnswer, .meteredLink, .offlineMode])
    func hopeless(error: TransferError) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .failure(error) }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(throws: ResourceFailure.transfer(error)) {
            try credentials.token(insteadOf: "a1", cancellation: cancellation)
        }
        #expect(network.bodies.count == 1 && network.waits.elements.isEmpty)
    }

    @Test(
        "Cancelling ends the wait",
        arguments: [.success((503, "")), .failure(.nameResolution)]
            as [Result<(status: Int, body: String), TransferError>])
    func cancelled(answer: Result<(status: Int, body: String), TransferError>) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in answer }
        network.waiting = { [cancellation] _ in
            cancellation.cancel()
            return .timeElapsed
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(throws: ResourceFailure.cancelled) {
            try credentials.token(insteadOf: "a1", cancellation: cancellation)
        }
        #expect(network.bodies.count == 1 && network.waits.elements.count == 1)
    }

    @Test("Nobody waits for the lock while a refresh waits for its retry")
    func lockIsFree() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .success((503, "")) }
        let held = Recorder<Bool>()
        network.waiting = { [store] _ in
            held.record((try? LockFile(store.lockPath)) == nil)
            return .timeElapsed
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(throws: ResourceFailure.self) { try credentials.token(insteadOf: "a1", cancellation: cancellation) }
        #expect(held.elements == [false, false, false])
    }

    @Test("A product whose login cannot be refreshed: the status has the waits, and the error is to be retried")
    func product() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let service = ScriptedService()
        service.playbackinfo = { _, _ in (401, "{\"subStatus\": 11003}") }
        let network = ScriptedTokens { _ in .success((503, "")) }
        let medium = MediumAccess(clock: ManualClock())
        let shown = Recorder<WaitReason?>()
        network.waiting = { _ in
            shown.record(medium.isWaiting ? medium.stream.wait : nil)
            return .timeElapsed
        }
        let source = ContentService(
            store.service, over: service.network, credentials: RefreshingCredentials(store, over: network))
        let product = MediaProduct(productType: .track, productId: "tonearm:track/7", referenceId: "r")
        let error = #expect(throws: PlayerError.self) {
            try source.open(product, session: PlaybackSession(), cancellation: cancellation, medium: medium)
        }
        #expect(error?.kind == .retryable && error?.cause == .service(status: 503, subStatus: nil))
        #expect(error?.mediaProduct == product)
        #expect(shown.elements == [.service(seconds: 0.5), .service(seconds: 1), .service(seconds: 2)])
        #expect(medium.stream.wait == nil && !medium.isWaiting)
        #expect(service.playbackinfoRequests.count == 1 && network.bodies.count == 4)
    }

    @Test(
        "A search whose login cannot be refreshed ends",
        arguments: [
            (.success((503, "")), 4, .retryable, "c3"), (.failure(.nameResolution), 1, .network, "c2"),
            (.failure(.malformedAnswer), 1, .unexpected, "c2"), (.success((400, "")), 1, .retryable, "c3"),
        ] as [(Result<(status: Int, body: String), TransferError>, Int, PlayerError.Kind, String)])
    func search(
        answer: Result<(status: Int, body: String), TransferError>, requests: Int, kind: PlayerError.Kind, code: String
    ) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in answer }
        var settings = StreamingSettings(service: store.service)
        settings.loginFolder = folder.path
        let account = ServiceAccount(settings, over: network)
        let error = #expect(throws: PlayerError.self) {
            try account.search("x", limit: 1, cancellation: cancellation)
        }
        #expect(error?.kind == kind && error?.code == code)
        #expect(network.bodies.count == requests)
    }

    @Test("Of many threads and processes one refreshes, and all get its token")
    func together() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        // Half of them share their state, as threads do.
        let shared = RefreshingCredentials(store, over: rotating)
        let lock = Lock()
        // Safe: guarded by `lock`, and read when all threads have ended.
        nonisolated(unsafe) var tokens: [String?] = []
        DispatchQueue.concurrentPerform(iterations: 16) { index in
            let credentials = index % 2 == 0 ? shared : RefreshingCredentials(store, over: rotating)
            let token = try? credentials.token(insteadOf: "a1", cancellation: cancellation)
            lock.withLock { tokens.append(token) }
        }
        #expect(tokens == Array(repeating: "a2", count: 16))
        #expect(rotating.bodies.count == 1)
    }
}
