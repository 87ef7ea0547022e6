import Account
import Fetching
import Media
import Network
import Platform
import Playback
import Streaming

/// The actions of a user on a service: logging in and out, and searching for music. For commands, not for the player.
///
/// Thread: any; all functions block.
public final class ServiceAccount: Sendable {
    private static let longestAnswer = 4 << 20

    private let service: ServiceSettings
    private let store: LoginStore?
    private let network: any LoginNetwork
    private let credentials: any CredentialsProvider
    private let clock = SystemMonotonicClock()

    /// - Parameter clock: the time that certificates are checked against.
    public convenience init(
        _ settings: StreamingSettings, clock: any CertificateClock
    ) throws(NetworkSetupError) {
        let network = try Network(settings.network(clock))
        self.init(settings, over: network)
    }

    init(_ settings: StreamingSettings, over network: any LoginNetwork) {
        service = settings.service
        store = settings.loginFolder.map { LoginStore(folder: $0, service: settings.service) }
        self.network = network
        credentials = settings.credentials(over: network)
    }

    /// Logs in: shows the user how to confirm the login, and waits for the decision.
    /// - Parameter show: called once.
    public func logIn(cancellation: Cancellation, show: (LoginPrompt) -> Void) throws(LoginFailure) {
        guard let store else { throw .storage("there is no folder for it") }
        // Checked first, so that the user does not confirm the login in vain.
        do throws(LoginStore.Failure) { try store.check() } catch { throw .storage(error.reason) }
        var login = DeviceAuthorization()
        var events: [DeviceAuthorization.Event] = [.begin]
        while let event = events.popLast() {
            for effect in login.handle(event, at: clock.now() / 1_000_000_000) {
                switch effect {
                case .show(let prompt): show(prompt)
                case .send(let request): events.append(try answer(to: request, cancellation))
                case .wait(let seconds):
                    if cancellation.wait(milliseconds: Int(seconds) * 1000) { throw .cancelled }
                    events.append(.timeIsUp)
                case .finish(let tokens):
                    try whileLocked(store, cancellation) { () throws(LoginStore.Failure) in try store.save(tokens) }
                case .fail(let failure): throw failure
                }
            }
        }
    }

    private func answer(
        to request: LoginRequest, _ cancellation: Cancellation
    ) throws(LoginFailure) -> DeviceAuthorization.Event {
        do throws(TransferError) {
            let answer = try network.fetch(
                request.transfer(service), maximumBody: Self.longestAnswer, cancellation: cancellation)
            return .answered(status: answer.head.status, body: answer.body)
        } catch {
            if error == .cancelled { throw .cancelled }
            return .failed(error.description)
        }
    }

    /// The time between attempts to take the lock, in milliseconds.
    private static let lockInterval = 100

    /// Changes the login while holding the login lock, so that a refreshing daemon cannot overwrite the change.
    private func whileLocked(
        _ store: LoginStore, _ cancellation: Cancellation, _ change: () throws(LoginStore.Failure) -> Void
    ) throws(LoginFailure) {
        while true {
            let problem: String?
            do throws(LockFile.Refusal) {
                let held = try LockFile(store.lockPath)
                problem = withExtendedLifetime(held) { () -> String? in
                    do throws(LoginStore.Failure) {
                        try change()
                        return nil
                    } catch {
                        return error.reason
                    }
                }
            } catch {
                guard case .system(let failure) = error else {
                    if cancellation.wait(milliseconds: Self.lockInterval) { throw .cancelled }
                    continue
                }
                problem = failure.description
            }
            if let problem { throw .storage(problem) }
            return
        }
    }

    /// Logs out: removes the tokens, and revokes them at the service if it can be reached.
    /// - Returns: whether the service has revoked them; nil without a login.
    public func logOut(cancellation: Cancellation) throws(LoginFailure) -> Bool? {
        guard let store else { return nil }
        var tokens: LoginTokens?
        try whileLocked(store, cancellation) { () throws(LoginStore.Failure) in
            // A login that cannot be read is removed, too.
            do throws(LoginStore.Failure) { tokens = try store.load() } catch { Log.warning(error.reason) }
            try store.remove()
        }
        guard let tokens else { return nil }
        let request = LoginRequest.revoke(tokens.refresh ?? tokens.access)
        guard case .answered(200, _) = try answer(to: request, cancellation) else { return false }
        return true
    }

    /// Searches the service's catalogue for words (docs/service.md, "Catalogue").
    /// - Parameters:
    ///   - words: as the user types them.
    ///   - limit: the maximum number of entries of each kind, 1 to 200.
    public func search(
        _ words: String, limit: Int, cancellation: Cancellation
    ) throws(PlayerError) -> CatalogueMatches {
        let path = "/v1/search?query=\(FormText.escaped(words))&limit=\(limit)"
        let body = try get(path, cancellation)
        guard let matches = CatalogueMatches(parsing: body) else {
            throw PlayerError(.unexpected, code: "c1", message: "the service sent an unexpected answer to the search.")
        }
        return matches
    }

    /// Returns the tracks of an album or a playlist in order, as `tonearm:track/ID`.
    /// - Throws: also for a list that does not end within the length of a queue, or within `mostPages` answers.
    public func tracks(of list: CatalogueList, cancellation: Cancellation) throws(PlayerError) -> [String] {
        var tracks: [String] = []
        var last: CatalogueMatches?
        var (offset, pages) = (0, 0)
        while true {
            let body = try get(list.path(offset: offset, limit: Self.pageLimit), cancellation)
            guard let page = CatalogueMatches(tracksIn: body) else {
                throw PlayerError(
                    .unexpected, code: "c1", message: "the service sent an unexpected answer to the list.")
            }
            // The total comes from the service and may be wrong. An empty or repeated page is the end.
            if page.entryCount == 0 || page == last { return tracks }
            tracks += page.tracks.map { $0.address }
            offset += page.entryCount
            pages += 1
            if offset >= page.trackCount, page.entryCount < Self.pageLimit { return tracks }
            // A total above a queue's capacity is a mistake of the service, whose pages may then have no end.
            let most = page.trackCount > Self.mostTracks ? Self.mostOfEndless : Self.mostTracks
            guard offset <= most, pages < Self.mostPages else {
                throw PlayerError(
                    .unexpected, code: "c1",
                    message:
                        "the list does not end: \(offset) entries in \(pages) answers, and \(page.trackCount) "
                        + "altogether by the service. A queue has at most \(Self.mostTracks). Name its tracks instead "
                        + "(tonearm:track/ID).")
            }
            last = page
        }
    }

    /// The maximum length of a queue.
    private static let mostTracks = 100_000
    /// The limit of a list whose total, according to the service, is above a queue's capacity.
    private static let mostOfEndless = 10_000
    /// The maximum number of answers that are read for one list.
    private static let mostPages = 1000

    /// The maximum number of entries in a service's page.
    private static let pageLimit = 200

    private func get(_ path: String, _ cancellation: Cancellation) throws(PlayerError) -> [UInt8] {
        let use = TokenUse(purpose: .command, cancellation: cancellation)
        do throws(ResourceFailure) {
            let token = try credentials.token(insteadOf: nil, for: use)
            do throws(ResourceFailure) { return try get(path, token: token, cancellation) } catch {
                guard case .refused(let refusal) = error, refusal.status == 401, let token,
                    let other = try credentials.token(insteadOf: token, for: use)
                else { throw error }
                return try get(path, token: other, cancellation)
            }
        } catch {
            throw Self.error(error)
        }
    }

    private func get(_ path: String, token: String?, _ cancellation: Cancellation) throws(ResourceFailure) -> [UInt8] {
        let answer: Response
        do throws(TransferError) {
            answer = try network.fetch(
                CatalogueRequest(path: path).transfer(service, token: token), maximumBody: Self.longestAnswer,
                cancellation: cancellation)
        } catch {
            throw .transfer(error)
        }
        guard answer.head.status == 200 else {
            throw .refused(ServiceRefusal(status: answer.head.status, body: answer.body))
        }
        return answer.body
    }

    private static func error(_ failure: ResourceFailure) -> PlayerError {
        switch failure {
        case .refused(let refusal): return PlayerError(refusal.kind, code: "c3", message: refusal.reason)
        case .transfer(let error):
            return PlayerError(
                PlayerError.kind(of: .source(error.byteSourceError)), code: "c2",
                message: "the service is not reached: \(error.description).")
        case .cancelled, .changed, .tooLarge:
            return PlayerError(.unexpected, code: "c2", message: "the service is not reached: cancelled.")
        }
    }
}
