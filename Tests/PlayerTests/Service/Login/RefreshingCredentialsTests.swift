import Foundation
import Network
import Platform
import TestSupport
import Testing

@testable import Player

/// A token endpoint as a function of requests.
// @unchecked: `lock` guards what changes.
private final class ScriptedTokens: LoginNetwork, @unchecked Sendable {
    private let lock = Lock()
    private var requests: [String] = []
    private let answer: @Sendable (_ count: Int) -> Result<(status: Int, body: String), TransferError>

    init(_ answer: @escaping @Sendable (_ count: Int) -> Result<(status: Int, body: String), TransferError>) {
        self.answer = answer
    }

    /// The bodies of the requests so far.
    var bodies: [String] { lock.withLock { requests } }

    func fetch(
        _ request: TransferRequest, maximumBody: Int, cancellation: Cancellation
    ) throws(TransferError) -> Response {
        guard !cancellation.isCancelled else { throw .cancelled }
        let count = lock.withLock {
            if case .post(let body, _) = request.method { requests.append(String(decoding: body, as: UTF8.self)) }
            return requests.count
        }
        let (status, body) = try answer(count).get()
        return Response(head: ResponseHead(status: status, effectiveURL: request.url), body: Array(body.utf8))
    }
}

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
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
        #expect(rotating.bodies.isEmpty)
    }

    @Test("A refused token is refreshed once, and the new one is on the medium")
    func refreshes() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a2")
        #expect(rotating.bodies == ["grant_type=refresh_token&refresh_token=r1&client_id=tonearm"])
        #expect(try store.load() == LoginTokens(access: "a2", refresh: "r2"))
    }

    @Test("What another process has refreshed is taken, and not refreshed again")
    func otherProcess() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "b")
        #expect(rotating.bodies.isEmpty)
        try store.remove()
        #expect(credentials.token(insteadOf: "b", cancellation: cancellation) == nil)
    }

    @Test("A login that comes later is found without a restart")
    func laterLogin() throws {
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
        try store.save(LoginTokens(access: "a1", refresh: nil))
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        // There is nothing to refresh it with.
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == nil)
    }

    @Test(
        "A refresh token that the service refuses is not sent again, but a new login is used",
        arguments: [
            (400, "{\"error\": \"invalid_grant\"}"), (401, ""),
        ])
    func ended(status: Int, body: String) throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { _ in .success((status, body)) }
        let credentials = RefreshingCredentials(store, over: network)
        for _ in 0..<3 { #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == nil) }
        #expect(network.bodies.count == 1)
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "b")
    }

    @Test("A new login is used from then on, also while the tokens of the old one are good")
    func newLogin() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a1")
        try store.save(LoginTokens(access: "b", refresh: "s"))
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "b")
        try store.remove()
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == nil)
    }

    @Test(
        "Tokens that cannot be saved are used until the process ends, and refreshed with their own refresh token",
        .enabled(if: Medium.isAvailable, "needs root, to mount a medium that becomes read-only"))
    func unsaved() throws {
        let medium = try Medium(at: folder["medium"], kilobytes: 256)
        let store = LoginStore(folder: medium.path, service: store.service)
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        // Made before: the lock is a file, too.
        _ = try LockFile(store.lockPath)
        medium.fill()
        let credentials = RefreshingCredentials(store, over: rotating)
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(try store.load()?.access == "a1", "nothing was saved")
        #expect(credentials.token(insteadOf: nil, cancellation: cancellation) == "a2")
        #expect(credentials.token(insteadOf: "a2", cancellation: cancellation) == "a3")
        #expect(rotating.bodies.last?.contains("r2") == true)
        medium.empty()
        #expect(credentials.token(insteadOf: "a3", cancellation: cancellation) == "a4")
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

    @Test("It waits through failures of the network and of the server")
    func waits() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { count in
            count == 1 ? .failure(.connection(.refused)) : .success((200, "{\"access_token\": \"a2\"}"))
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == "a2")
        #expect(network.bodies.count == 2)
        #expect(try store.load() == LoginTokens(access: "a2", refresh: "r1"))
    }

    @Test("Cancelling ends the wait")
    func cancelled() throws {
        try store.save(LoginTokens(access: "a1", refresh: "r1"))
        let network = ScriptedTokens { [cancellation] _ in
            cancellation.cancel()
            return .success((503, ""))
        }
        let credentials = RefreshingCredentials(store, over: network)
        #expect(credentials.token(insteadOf: "a1", cancellation: cancellation) == nil)
        #expect(network.bodies.count == 1)
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
            let token = credentials.token(insteadOf: "a1", cancellation: cancellation)
            lock.withLock { tokens.append(token) }
        }
        #expect(tokens == Array(repeating: "a2", count: 16))
        #expect(rotating.bodies.count == 1)
    }
}
