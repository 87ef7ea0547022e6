import Fetching
import Platform

/// The code and addresses that the user needs for a login.
public struct LoginPrompt: Equatable, Sendable {
    /// The code to type on the page.
    public var code: String
    /// The address of the page.
    public var address: String
    /// The address of the page with the code in it; nil when the service has none.
    public var completeAddress: String?
    /// How long the code is valid, in seconds.
    public var life: Int64
}

/// Why a login has failed.
public enum LoginFailure: Error, Equatable, Sendable {
    /// The owner has refused the login.
    case denied
    /// The code has expired without a decision.
    case expired
    /// The service refuses the login. The reason is for users.
    case refused(String)
    /// The answer does not follow the protocol of device authorization.
    case notUnderstood
    /// The service cannot be reached. The reason is for users.
    case unreachable(String)
    /// The tokens cannot be stored. The reason is for users.
    case storage(String)
    case cancelled
}

/// The client's side of a login without a browser: OAuth 2.0 device authorization (RFC 8628).
///
/// Events in, effects out; the caller carries them out with the network and the clock.
package struct DeviceAuthorization {
    package enum Event: Equatable {
        case begin
        /// A request was answered.
        case answered(status: Int, body: [UInt8])
        /// A request was not answered. The reason is for users.
        case failed(String)
        /// The time of `wait` has passed.
        case timeIsUp
    }

    package enum Effect: Equatable {
        case send(LoginRequest)
        case show(LoginPrompt)
        /// `timeIsUp` must follow after this many seconds.
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
        /// The time between polls, in seconds.
        var interval: Int64
        /// When the code expires, in seconds of the monotonic clock.
        var deadline: Int64
    }

    /// The longest time between polls, in seconds.
    private static let longestInterval: Int64 = 300

    private var state = State.idle

    package init() {}

    /// - Parameter now: the time in seconds of the monotonic clock.
    package mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
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
        case (.asking, .answered(200, let body)) where (try? JSONValue.parseForeign(body)) != nil:
            guard let tokens = LoginTokens(parsing: body) else { return end(.notUnderstood) }
            state = .ended
            return [.finish(tokens)]
        case (.asking(var code), .answered(let status, let body)):
            // The service has given the code: any other answer comes from a third party in between.
            guard !ServiceRefusal.isTemporary(status),
                LoginErrorAnswer.isOne(body) || ServiceRefusal(status: status, body: body).isOfService
            else { return backOff(code, at: now) }
            switch LoginErrorAnswer(status: status, body: body) {
            case .authorizationPending: return wait(code, at: now)
            case .slowDown:
                // RFC 8628, 3.5: applies to this poll and all later ones.
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

    /// Polls less often after a failure: the network may recover while the code is valid (RFC 8628, 3.5).
    private mutating func backOff(_ code: Code, at now: Int64) -> [Effect] {
        var code = code
        code.interval = min(code.interval * 2, Self.longestInterval)
        return wait(code, at: now)
    }

    /// Waits for the next poll, but not beyond the end of the code: a poll at its end gets the last decision.
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
