/// Decides when a request to the service is retried (docs/playback.md, 15.4). The only code that decides it.
///
/// A value: the caller waits. A delay begins at the answer or the failure.
package struct RetrySchedule: Equatable, Sendable {
    /// The purpose of the requests.
    package enum Purpose: Sendable {
        case playback
        /// Completing the content matters more than reporting a problem soon.
        case offlining
        /// A user waits for the answer: without a network the request fails at once.
        case command
        /// Other validations wait for this one, and a later re-validation retries it.
        case validation
        /// A file at an address that may never have worked. Once bytes have arrived, it is `.playback`.
        case opening
        /// Live content, which survives a single bad answer: `LivePatience` decides its retries.
        case live

        /// The number of retries after 5XX and 429.
        var serverRetries: Int {
            switch self {
            case .playback, .opening, .command, .validation: 3
            case .offlining: 9
            case .live: 0
            }
        }

        /// The number of retries after failures of the network; nil: unlimited.
        var networkRetries: Int? {
            switch self {
            case .playback, .offlining: nil
            case .command, .live: 0
            case .validation: 3
            case .opening: 4
            }
        }

        /// The purpose once bytes have arrived.
        var onArrival: Purpose { self == .opening ? .playback : self }

        /// Whether arriving bytes restore all retries. Otherwise an answer that always breaks off would be retried
        /// without end.
        var forgetsFailures: Bool { self != .validation }
    }

    /// The reason for a retry.
    package enum Failure: Equatable, Sendable {
        /// The answer is missing or incomplete.
        case network
        /// 5XX or 429.
        /// - Parameter retryAfter: seconds, from the answer; nil when it has none.
        case server(retryAfter: Int64?)
    }

    private static let firstDelay: Int64 = 500_000_000
    /// The longest delay of unlimited retries, in nanoseconds.
    private static let longestNetworkDelay: Int64 = 30_000_000_000
    /// The longest accepted `Retry-After`, in seconds: a larger one is a mistake, and would silence the player.
    private static let longestRetryAfter: Int64 = 3600
    /// The longest `Retry-After` that is accepted where something else can follow, in seconds.
    private static let longestOptionalDelay: Int64 = 60

    private let purpose: Purpose
    private var networkFailures = 0
    private var serverFailures = 0

    package init(_ purpose: Purpose) { self.purpose = purpose }

    /// - Returns: nanoseconds until the next attempt; nil when there is none.
    package mutating func delay(after failure: Failure) -> Int64? {
        switch failure {
        case .network:
            if let limit = purpose.networkRetries, networkFailures >= limit { return nil }
            defer { networkFailures = min(networkFailures + 1, 32) }
            // 500 ms · 2⁶ is beyond the longest delay.
            return min(Self.firstDelay << Int64(min(networkFailures, 6)), Self.longestNetworkDelay)
        case .server(let retryAfter):
            guard serverFailures < purpose.serverRetries else { return nil }
            let isOptional = purpose == .validation || purpose == .opening
            if isOptional, retryAfter ?? 0 > Self.longestOptionalDelay { return nil }
            defer { serverFailures += 1 }
            let asked = max(0, min(retryAfter ?? 0, Self.longestRetryAfter)) * 1_000_000_000
            return max(Self.firstDelay << Int64(serverFailures), asked)
        }
    }
}
