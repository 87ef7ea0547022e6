import Fetching
import Network
import Platform

/// The tokens of a login (`tonearm login`). When the access token is refused, the tokens are refreshed once. The new
/// ones are on the medium before they are used (docs/decisions/login.md).
///
/// Several threads and processes may share the login: one of them refreshes, and the others use its tokens.
///
/// Thread: any. It blocks during retries, which follow the rules of the request that needs the token.
/// `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class RefreshingCredentials: CredentialsProvider, @unchecked Sendable {
    private static let longestAnswer = 64 << 10
    /// The interval of looking for tokens that another thread or process has refreshed, in milliseconds.
    private static let lookInterval = 100

    private let store: LoginStore
    private let network: any LoginNetwork
    private let lock = Lock()
    // Guarded by `lock`.
    private var tokens: LoginTokens?
    /// The file that `tokens` come from: the user may have logged in again.
    private var file: Folder.Identity?
    /// New tokens that could not be saved, and the refresh token on the medium that they replace.
    private var unsaved: (tokens: LoginTokens, insteadOf: String)?
    /// A refresh token that the service no longer accepts. It is not sent again for each product.
    private var spentRefresh: String?
    private var lastProblem = ""

    package init(_ store: LoginStore, over network: any LoginNetwork) {
        self.store = store
        self.network = network
    }

    package func token(insteadOf rejected: String?, for use: TokenUse) throws(ResourceFailure) -> String? {
        if let known, !isRejected(known, rejected) { return known.access }
        if let kept = reload(), !isRejected(kept, rejected) { return kept.access }
        guard let rejected, lock.withLock({ tokens })?.refresh != nil else { return nil }
        return try refresh(insteadOf: rejected, for: use)
    }

    package func user(of token: String?) -> String? {
        guard let tokens = known ?? reload(), token.map({ $0.hasSameBytes(as: tokens.access) }) ?? true else {
            return nil
        }
        return tokens.user
    }

    /// The tokens in memory; nil when the login on the medium is another one.
    private var known: LoginTokens? {
        let present = store.file
        return lock.withLock { file == present ? tokens : nil }
    }

    private func isRejected(_ tokens: LoginTokens, _ rejected: String?) -> Bool {
        rejected.map { $0.hasSameBytes(as: tokens.access) } ?? false
    }

    /// Reads the login from the medium, because another process may have changed it.
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
            notify(error.reason)
            return lock.withLock { tokens }
        }
    }

    // MARK: Refreshing

    private enum Attempt {
        case got(LoginTokens)
        /// The login has ended.
        case ended
        /// Another thread or process is refreshing the tokens.
        case isBusy
        /// A later attempt may succeed. Has the reason for the retry schedule, and the error if there is no later
        /// attempt.
        case failed(RetrySchedule.Failure, ResourceFailure)
        /// Waiting does not help.
        case hopeless(ResourceFailure)
    }

    private func refresh(insteadOf rejected: String, for use: TokenUse) throws(ResourceFailure) -> String? {
        var schedule = RetrySchedule(use.purpose)
        let progressID = use.progress?.newID() ?? 0
        defer { use.progress?.proceeds(progressID) }
        while true {
            // Before the request, so that a change of the link during the request ends the following wait.
            let linkChanges = network.linkChanges
            switch attempt(insteadOf: rejected, use) {
            case .got(let tokens): return tokens.access
            case .ended: return nil
            case .hopeless(let reason): throw reason
            case .isBusy:
                if use.cancellation.wait(milliseconds: Self.lookInterval) { throw .cancelled }
            // The lock is free during the wait, so that logging out does not wait for the retries.
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
            notify("the login cannot be refreshed: \(problem)")
            return .ended
        }
        return withExtendedLifetime(held) { attemptAlone(insteadOf: rejected, use) }
    }

    /// Refreshes while no other thread or process does.
    private func attemptAlone(insteadOf rejected: String, _ use: TokenUse) -> Attempt {
        // The previous owner of the lock may have stored new tokens.
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
            // Nothing was sent: the login is unchanged.
            case .meteredLink, .offlineMode: return .hopeless(.transfer(error))
            default: break
            }
            notify("the login cannot be refreshed: \(error.description)")
            return error.isOfNetwork ? .failed(.network, .transfer(error)) : .hopeless(.transfer(error))
        }
        if ServiceRefusal.isTemporary(answer.head.status) {
            notify("the login cannot be refreshed: the service answers with status \(answer.head.status)")
            return .failed(
                .server(retryAfter: answer.head.retryAfter),
                .refused(ServiceRefusal(status: answer.head.status, body: answer.body)))
        }
        guard answer.head.status == 200, let fresh = LoginTokens(parsing: answer.body, previous: kept) else {
            // RFC 6749, 5.2. Any other answer comes from a third party between here and the service, and does not end
            // the login.
            let status = answer.head.status
            guard status == 400 || status == 401, LoginErrorAnswer.isOne(answer.body) else {
                notify("the login cannot be refreshed: \(ServiceRefusal.foreignReason(status))")
                return .hopeless(.refused(ServiceRefusal(status: status)))
            }
            lock.withLock { spentRefresh = refresh }
            notify("the service does not accept the login any more. Log in again with `tonearm login`")
            return .ended
        }
        OwnRefreshes.willSave(store.path)
        defer { OwnRefreshes.didSave(store.path, store.file) }
        do throws(LoginStore.Failure) {
            try store.save(fresh)
            lock.withLock { unsaved = nil }
        } catch {
            // The tokens are valid until this process ends.
            notify("the login cannot be saved: \(error.reason)")
            lock.withLock { unsaved = (fresh, unsaved?.insteadOf ?? refresh) }
        }
        lock.withLock { tokens = fresh }
        return .got(fresh)
    }

    /// Logs a problem once, until another one follows.
    private func notify(_ problem: String) {
        let isNew = lock.withLock {
            defer { lastProblem = problem }
            return !problem.hasSameBytes(as: lastProblem)
        }
        if isNew { Log.warning(problem) }
    }
}
