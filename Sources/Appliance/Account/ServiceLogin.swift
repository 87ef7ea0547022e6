import Database
import Platform
import Player

/// The login to the content service, as clients see it.
package struct ServiceLoginStatus: Equatable, Sendable {
    /// The address of the service; nil without one.
    package var service: String?
    /// Whether a login is stored, or a file with a token is configured.
    package var isLoggedIn = false
    /// The code and the addresses for the user, while the login waits for a decision.
    package var prompt: LoginPrompt?
    /// The result of the last login or logout that did not succeed, for the user.
    package var problem: String?
}

/// Logs the daemon in to the content service, and out of it, for clients.
///
///     login.perform(.begin) { status in show(status.prompt) }
///
/// Thread: the daemon's; a thread of its own waits for the service and for the user's decision.
/// `@unchecked Sendable` is safe because that thread only posts to `loop`.
public final class ServiceLogin: @unchecked Sendable {
    package enum Request: Equatable, Sendable {
        case status
        /// Begins a login, unless one is already waiting.
        case begin
        case cancel
        case logOut
    }

    typealias Answer = (ServiceLoginStatus) -> Void

    private enum Work { case login, logout }

    private enum State {
        case idle
        /// A thread communicates with the service. The answers wait for the code, or for the end.
        case asking(Work, Cancellation?, [Answer])
        /// The code is shown, and the user has not decided yet.
        case waiting(Cancellation, LoginPrompt)
    }

    private let loop: EventLoop
    private let address: String
    private let storage: StorageThread
    /// Makes the account. Blocks, because it reads the certificates.
    private let account: @Sendable () throws(NetworkProblem) -> ServiceAccount
    /// Returns whether a login is stored. Blocks, because it reads the medium.
    private let isStored: @Sendable () -> Bool
    private var state = State.idle
    /// The requests that begin after the current work has ended.
    private var deferred: [(request: Request, answer: Answer)] = []
    private var problem: String?

    /// Why the service cannot be asked.
    public struct NetworkProblem: Error {
        /// The reason for the user.
        public var message: String

        public init(message: String) { self.message = message }
    }

    /// - Parameters:
    ///   - address: the address of the service.
    ///   - isStored: returns whether a login or a token is stored; called on the storage thread.
    init(
        _ address: String, loop: EventLoop, storage: StorageThread, isStored: @escaping @Sendable () -> Bool,
        account: @escaping @Sendable () throws(NetworkProblem) -> ServiceAccount
    ) {
        self.address = address
        self.loop = loop
        self.storage = storage
        self.isStored = isStored
        self.account = account
    }

    /// - Parameter answer: called once, after this function has returned. A login answers when the code is known, or
    ///   when it has failed.
    func perform(_ request: Request, _ answer: @escaping Answer) {
        loop.assertOnLoop()
        switch (request, state) {
        case (.begin, .idle): begin(.login, answer) { [address] in $0.logIn($1, to: address, $2) }
        case (.logOut, .idle):
            begin(.logout, answer) { [address] account, cancellation, _ in account.logOut(cancellation, from: address) }
        case (.begin, .asking(.login, let cancellation, let answers)) where cancellation?.isCancelled != true:
            state = .asking(.login, cancellation, answers + [answer])
        case (.logOut, .asking(.logout, let cancellation, let answers)):
            state = .asking(.logout, cancellation, answers + [answer])
        case (.cancel, .asking(.login, let cancellation, let answers)):
            cancellation?.cancel()
            state = .asking(.login, cancellation, answers + [answer])
        case (.cancel, .waiting(let cancellation, _)):
            cancellation.cancel()
            // The thread of the login ends soon, and then answers.
            state = .asking(.login, cancellation, [answer])
        case (.logOut, .asking(.login, let cancellation, _)):
            cancellation?.cancel()
            deferred.append((request, answer))
        case (.logOut, .waiting(let cancellation, _)):
            cancellation.cancel()
            state = .asking(.login, cancellation, [])
            deferred.append((request, answer))
        case (.begin, .asking): deferred.append((request, answer))
        case (.status, _), (.begin, .waiting), (.cancel, .idle), (.cancel, .asking): report(answer)
        }
    }

    /// Ends a login that waits. Does not wait for its thread.
    func stop() {
        switch state {
        case .idle: break
        case .asking(_, let cancellation, _): cancellation?.cancel()
        case .waiting(let cancellation, _): cancellation.cancel()
        }
    }

    /// - Parameter work: returns nil on success, or the reason for the user.
    private func begin(
        _ kind: Work, _ answer: @escaping Answer,
        _ work:
            @escaping @Sendable (ServiceAccount, Cancellation, @escaping @Sendable (LoginPrompt) -> Void) -> String?
    ) {
        problem = nil
        do throws(SystemError) {
            let cancellation = try Cancellation()
            state = .asking(kind, cancellation, [answer])
            let (loop, account) = (loop, account)
            _ = try NamedThread.start(name: "login", stackSize: 512 << 10) { [self] in
                var result: String?
                do throws(NetworkProblem) {
                    result = work(try account(), cancellation) { prompt in
                        loop.post { [self] in show(prompt) }
                    }
                } catch {
                    result = error.message
                }
                let problem = result
                loop.post { [self] in finish(problem) }
            }
        } catch {
            state = .asking(kind, nil, [answer])
            finish(error.description)
        }
    }

    private func show(_ prompt: LoginPrompt) {
        guard case .asking(.login, let asked, let answers) = state, let cancellation = asked, !cancellation.isCancelled
        else { return }
        state = .waiting(cancellation, prompt)
        for answer in answers { report(answer) }
    }

    private func finish(_ problem: String?) {
        self.problem = problem
        var answers: [Answer] = []
        if case .asking(_, _, let waiting) = state { answers = waiting }
        state = .idle
        for answer in answers { report(answer) }
        let next = deferred
        deferred = []
        for (request, answer) in next { perform(request, answer) }
    }

    /// Answers with the current status, after reading the medium.
    private func report(_ answer: @escaping Answer) {
        var status = ServiceLoginStatus(service: address, problem: problem)
        if case .waiting(_, let prompt) = state { status.prompt = prompt }
        let (known, loop, isStored) = (status, loop, isStored)
        // Safe: the storage thread passes it back to the loop and does not call it.
        nonisolated(unsafe) let answer = answer
        let willAnswer = storage.perform {
            var status = known
            status.isLoggedIn = isStored()
            let complete = status
            loop.post { answer(complete) }
        }
        if !willAnswer { answer(known) }
    }
}

extension ServiceAccount {
    /// - Returns: nil on success, or the reason for the user.
    fileprivate func logIn(
        _ cancellation: Cancellation, to address: String, _ show: @Sendable (LoginPrompt) -> Void
    ) -> String? {
        do throws(LoginFailure) {
            try logIn(cancellation: cancellation, show: show)
            return nil
        } catch {
            // The user knows that the login was cancelled.
            return error == .cancelled ? nil : error.text(of: address)
        }
    }

    /// - Returns: nil on success, or the reason for the user.
    fileprivate func logOut(_ cancellation: Cancellation, from address: String) -> String? {
        do throws(LoginFailure) {
            if try logOut(cancellation: cancellation) != false { return nil }
            return "\(address) has not confirmed the logout. The tokens are removed from here."
        } catch {
            return error.text(of: address)
        }
    }
}

extension LoginFailure {
    /// Returns the reason for the user.
    /// - Parameter address: the address of the service.
    public func text(of address: String) -> String {
        switch self {
        case .denied: "\(address): the owner has refused this player."
        case .expired: "nobody has entered the code in time. Log in again."
        case .refused(let reason): "\(address) refuses the login: \(reason)."
        case .notUnderstood: "\(address): its answer is not that of a login. Is the address that of the service?"
        case .unreachable(let reason): "\(address) is not reached: \(reason)."
        case .storage(let reason): "the login cannot be stored: \(reason)."
        case .cancelled: "cancelled."
        }
    }
}
