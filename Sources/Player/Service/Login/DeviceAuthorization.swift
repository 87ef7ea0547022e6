/// What a person needs for a login.
public struct LoginPrompt: Equatable, Sendable {
    /// To type on the page.
    public var code: String
    /// Of the page.
    public var address: String
    /// Of the page, with the code in it; nil when the service has none.
    public var completeAddress: String?
    /// How long the code is good, in seconds.
    public var life: Int64
}

/// Why there is no login.
public enum LoginFailure: Error, Equatable, Sendable {
    /// The owner has refused it.
    case denied
    /// Nobody has decided while the code was good.
    case expired
    /// The service refuses it: the reason, for a person.
    case refused(String)
    /// The answer is not that of device authorization.
    case notUnderstood
    /// The service is not reached: the reason, for a person.
    case unreachable(String)
    /// The tokens cannot be kept: the reason, for a person.
    case storage(String)
    case cancelled
}

/// A login without a browser: OAuth 2.0 device authorization (RFC 8628), from the client's side.
///
/// Events in, effects out; the one who carries them out has the network and the clock.
struct DeviceAuthorization {
    enum Event: Equatable {
        case begin
        /// A request was answered.
        case answered(status: Int, body: [UInt8])
        /// A request was not answered: the reason, for a person.
        case failed(String)
        /// The time of `wait` is over.
        case timeIsUp
    }

    enum Effect: Equatable {
        case send(LoginRequest)
        case show(LoginPrompt)
        /// `timeIsUp` is to come after so many seconds.
        case wait(Int64)
        case finish(LoginTokens)
        case fail(LoginFailure)
    }

    private enum State {
        case idle
        case requestingCode
        case waiting(Code)
        case asking(Code)
        case ended
    }

    private struct Code {
        var deviceCode: String
        /// In seconds.
        var interval: Int64
        /// When the code ends, in seconds of the monotonic clock.
        var deadline: Int64
    }

    /// Between questions, in seconds.
    private static let longestInterval: Int64 = 300

    private var state = State.idle

    /// - Parameter now: in seconds of the monotonic clock.
    mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
        switch (state, event) {
        case (.idle, .begin):
            state = .requestingCode
            return [.send(.deviceCode)]
        case (.requestingCode, .answered(200, let body)):
            guard let answer = DeviceCodeAnswer(parsing: body) else { return end(.notUnderstood) }
            let prompt = LoginPrompt(
                code: answer.userCode, address: answer.verificationAddress, completeAddress: answer.completeAddress,
                life: answer.life)
            return [.show(prompt)]
                + wait(
                    Code(
                        deviceCode: answer.deviceCode, interval: answer.interval, deadline: now + answer.life), at: now)
        case (.requestingCode, .answered(let status, let body)):
            return end(Self.refusal(status, body))
        case (.requestingCode, .failed(let reason)):
            return end(.unreachable(reason))
        case (.waiting(let code), .timeIsUp):
            state = .asking(code)
            return [.send(.token(deviceCode: code.deviceCode))]
        case (.asking, .answered(200, let body)):
            guard let tokens = LoginTokens(parsing: body) else { return end(.notUnderstood) }
            state = .ended
            return [.finish(tokens)]
        case (.asking(var code), .answered(let status, let body)):
            if ServiceRefusal.isTemporary(status) { return backOff(code, at: now) }
            switch LoginErrorAnswer(status: status, body: body) {
            case .authorizationPending: return wait(code, at: now)
            case .slowDown:
                // RFC 8628, 3.5: for this and all later questions.
                code.interval = min(code.interval + 5, Self.longestInterval)
                return wait(code, at: now)
            case .accessDenied: return end(.denied)
            case .expiredToken: return end(.expired)
            case .invalidGrant, .other: return end(Self.refusal(status, body))
            }
        case (.asking(let code), .failed): return backOff(code, at: now)
        case (.idle, _), (.requestingCode, _), (.waiting, _), (.asking, _), (.ended, _): return []
        }
    }

    /// The network may come back while the code is good; questions become rarer (RFC 8628, 3.5).
    private mutating func backOff(_ code: Code, at now: Int64) -> [Effect] {
        var code = code
        code.interval = min(code.interval * 2, Self.longestInterval)
        return wait(code, at: now)
    }

    /// A question that would come after the end of the code is asked at its end: the last decision counts.
    private mutating func wait(_ code: Code, at now: Int64) -> [Effect] {
        guard now < code.deadline else { return end(.expired) }
        state = .waiting(code)
        return [.wait(min(code.interval, code.deadline - now))]
    }

    private mutating func end(_ failure: LoginFailure) -> [Effect] {
        state = .ended
        return [.fail(failure)]
    }

    private static func refusal(_ status: Int, _ body: [UInt8]) -> LoginFailure {
        if status == 404 || status == 405 { return .refused("it has no login (status \(status))") }
        return switch LoginErrorAnswer(status: status, body: body) {
        case .other(let reason): .refused(reason)
        case .accessDenied: .denied
        case .expiredToken: .expired
        case .invalidGrant: .refused("the code is not good any more")
        case .authorizationPending, .slowDown: .notUnderstood
        }
    }
}
