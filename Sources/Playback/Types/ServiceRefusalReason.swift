import Fetching

extension ServiceRefusal {
    /// The kind of error for users.
    package var kind: PlayerError.Kind {
        if isForeign { return .retryable }
        switch subStatus {
        case 4007: return .offliningNotAllowedOnDevice
        case 4010: return .monthlyStreamQuotaExceeded
        case 4032, 4035: return .contentNotAvailableInLocation
        case 4033: return .contentNotAvailableForSubscription
        default: break
        }
        if Self.isTemporary(status) { return .retryable }
        return (400..<500).contains(status) ? .notAllowed : .unexpected
    }

    /// The reason and the remedy, for users.
    package var reason: String {
        if isForeign { return Self.foreignReason(status) + "." }
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
}
