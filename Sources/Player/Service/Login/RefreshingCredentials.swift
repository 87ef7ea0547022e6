import Network
import Platform

/// The tokens of a login (`tonearm login`). A refused one is refreshed once; the new ones are on the medium before they
/// are used.
///
/// Several threads and processes may have the same login: one of them refreshes, and the others take its tokens.
///
/// Thread: any. It blocks through the retries, which are those of the request that the token is for.
/// `@unchecked Sendable` is safe because `lock` guards what changes.
final class RefreshingCredentials: CredentialsProvider, @unchecked Sendable {
    private static let longestAnswer = 64 << 10
    /// How often it looks whether another one has refreshed, in milliseconds.
    private static let lookInterval = 100

    private let store: LoginStore
    private let network: any LoginNetwork
    private let lock = Lock()
    // Guarded by `lock`.
    private var tokens: LoginTokens?
    /// The file that `tokens` are from: a person may have logged in again.
    private var file: Folder.Identity?
    /// New tokens that could not be saved, and the refresh token on the medium that they replace.
    private var unsaved: (tokens: LoginTokens, insteadOf: String)?
    /// A refresh token that the service does not take any more. It is not asked again with each product.
    private var spentRefresh: String?
    private var lastProblem = ""

    init(_ store: LoginStore, over network: any LoginNetwork) {
        self.store = store
        self.network = network
    }

    func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String? {
        let present = store.file
        let known = lock.withLock { file == present ? tokens : nil }
        if let known, !isRejected(known, rejected) { return known.access }
        if let kept = reload(), !isRejected(kept, rejected) { return kept.access }
        guard let rejected, lock.withLock({ tokens })?.refresh != nil else { return nil }
        return try refresh(insteadOf: rejected, for: use)
    }

    private func isRejected(_ tokens: LoginTokens, _ rejected: String?) -> Bool {
        rejected.map { $0.hasSameBytes(as: tokens.access) } ?? false
    }

    /// The login on the medium: another process may have changed it.
    private func reload() -> LoginTokens? {
        do throws(LoginStore.Failure) {
            let present = store.file
            let kept = try store.load()
            return lock.withLock {
                file = present
                if let unsaved, let old = kept?.refresh, old.hasSameBytes(as: unsaved.insteadOf) {
                    tokens = unsaved.tokens
                } else {
                    (unsaved, tokens) = (nil, kept)
                }
                return tokens
            }
        } catch {
            tell(error.reason)
            return lock.withLock { tokens }
        }
    }

    // MARK: Refreshing

    private enum Attempt {
        case got(LoginTokens)
        /// The login has ended.
        case ended
        /// Another one refreshes at present.
        case isBusy
        /// It may succeed later: what decides when, and the error if there is no later attempt.
        case failed(RetrySchedule.Failure, ResourceFailure)
        /// Waiting does not change it.
        case hopeless(ResourceFailure)
    }

    private func refresh(insteadOf rejected: String, for use: TokenUse) throws(ResourceFailure) -> String? {
        var schedule = RetrySchedule(use.purpose)
        let progressID = use.progress?.newID() ?? 0
        defer { use.progress?.goesOn(progressID) }
        while true {
            // Before the request: another link that comes meanwhile ends the wait that follows.
            let linkChanges = network.linkChanges
            switch attempt(insteadOf: rejected, use) {
            case .got(let tokens): return tokens.access
            case .ended: return nil
            case .hopeless(let reason): throw reason
            case .isBusy:
                if use.cancellation.wait(milliseconds: Self.lookInterval) { throw .cancelled }
            // The lock is free during the wait: a person who logs out does not wait for the retries.
            case .failed(let failure, let reason):
                guard let delay = schedule.delay(after: failure) else { throw reason }
                use.progress?.willRetry(progressID, after: failure, delay: delay)
                switch failure {
                case .server:
                    if network.wait(delay, cancellation: use.cancellation) { throw .cancelled }
                case .network:
                    let end = network.waitForLink(since: linkChanges, atMost: delay, cancellation: use.cancellation)
                    guard let end else { throw .cancelled }
                    if end == .linkChanged { schedule = RetrySchedule(use.purpose) }
                }
            }
        }
    }

    private func attempt(insteadOf rejected: String, _ use: TokenUse) -> Attempt {
        let held: LockFile
        do throws(LockFile.Refusal) { held = try LockFile(store.lockPath) } catch {
            guard case .system(let problem) = error else { return .isBusy }
            tell("the login cannot be refreshed: \(problem)")
            return .ended
        }
        return withExtendedLifetime(held) { attemptAlone(insteadOf: rejected, use) }
    }

    /// While no other thread or process refreshes.
    private func attemptAlone(insteadOf rejected: String, _ use: TokenUse) -> Attempt {
        // The one that held it before may have new tokens.
        guard let kept = reload() else { return .ended }
        guard isRejected(kept, rejected) else { return .got(kept) }
        guard let refresh = kept.refresh, lock.withLock({ spentRefresh.map { !$0.hasSameBytes(as: refresh) } ?? true })
        else { return .ended }
        let answer: Response
        var request = LoginRequest.refresh(refresh).transfer(store.service)
        request.mayUseMeteredLink = use.mayUseMeteredLink
        do throws(TransferError) {
            answer = try network.fetch(
                request, maximumBody: Self.longestAnswer, cancellation: use.cancellation)
        } catch {
            switch error {
            case .cancelled: return .hopeless(.cancelled)
            // Nothing was sent: the login is what it was.
            case .meteredLink, .offlineMode: return .hopeless(.transfer(error))
            default: break
            }
            tell("the login cannot be refreshed: \(error.description)")
            return error.isOfNetwork ? .failed(.network, .transfer(error)) : .hopeless(.transfer(error))
        }
        if ServiceRefusal.isTemporary(answer.head.status) {
            tell("the login cannot be refreshed: the service answers with status \(answer.head.status)")
            return .failed(
                .server(retryAfter: answer.head.retryAfter),
                .refused(ServiceRefusal(status: answer.head.status, body: answer.body)))
        }
        guard answer.head.status == 200, let fresh = LoginTokens(parsing: answer.body, previous: refresh) else {
            // RFC 6749, 5.2. Another answer comes from something between here and the service, and ends no login.
            let status = answer.head.status
            guard status == 400 || status == 401, LoginErrorAnswer.isOne(answer.body) else {
                tell("the login cannot be refreshed: \(ServiceRefusal.foreignReason(status))")
                return .hopeless(.refused(ServiceRefusal(status: status)))
            }
            lock.withLock { spentRefresh = refresh }
            tell("the service does not accept the login any more. Log in again with `tonearm login`")
            return .ended
        }
        do throws(LoginStore.Failure) {
            try store.save(fresh)
            lock.withLock { unsaved = nil }
        } catch {
            // They are good until this process ends.
            tell("the login cannot be saved: \(error.reason)")
            lock.withLock { unsaved = (fresh, unsaved?.insteadOf ?? refresh) }
        }
        lock.withLock { tokens = fresh }
        return .got(fresh)
    }

    /// Once, as long as it is the same.
    private func tell(_ problem: String) {
        let isNew = lock.withLock {
            defer { lastProblem = problem }
            return !problem.hasSameBytes(as: lastProblem)
        }
        if isNew { Log.warning(problem) }
    }
}
