import Platform

/// A refusal of the service: a status from 400 on with its reason (docs/service.md).
struct ServiceRefusal: Equatable, Sendable {
    var status: Int
    /// The service's reason; nil without one.
    var subStatus: Int?
    /// For a person, in the service's words.
    var userMessage: String?

    init(status: Int) { self.status = status }

    /// - Parameter body: of the answer; anything that is not the service's JSON has no reason.
    init(status: Int, body: [UInt8]) {
        self.status = status
        guard let json = try? JSONValue.parse(body) else { return }
        subStatus = json["subStatus"]?.integer.flatMap { Int(exactly: $0) }
        userMessage = json["userMessage"]?.string
    }

    /// What a person is told.
    var kind: PlayerError.Kind {
        switch subStatus {
        case 4007: .offliningNotAllowedOnDevice
        case 4010: .monthlyStreamQuotaExceeded
        case 4032, 4035: .contentNotAvailableInLocation
        case 4033: .contentNotAvailableForSubscription
        default: Self.isTemporary(status) ? .retryable : status < 500 && status >= 400 ? .notAllowed : .unexpected
        }
    }

    /// What happened and what to do, for a person.
    var reason: String {
        let told = userMessage.map { " It says: \($0)" } ?? ""
        switch kind {
        case .retryable: return "the service fails at present (status \(status)). Try again later.\(told)"
        case .contentNotAvailableInLocation: return "it is not available in this country.\(told)"
        case .contentNotAvailableForSubscription: return "the subscription does not include it.\(told)"
        case .monthlyStreamQuotaExceeded: return "the subscription's streams of this month are used up.\(told)"
        case .offliningNotAllowedOnDevice: return "this device may not keep music of the service.\(told)"
        default: break
        }
        switch status {
        case 401:
            return "the service does not accept this player. Log in with `tonearm login`, or check the token file "
                + "([service] token-file, or --token-file).\(told)"
        case 404: return "the service has no such product.\(told)"
        default: return "the service refuses it (status \(status)).\(told)"
        }
    }

    /// Whether the same request may succeed later.
    static func isTemporary(_ status: Int) -> Bool { status == 429 || (500..<600).contains(status) }
}
