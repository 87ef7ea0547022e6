/// When a request to the service is repeated (docs/playback.md, 15.4). The only place that decides it.
///
/// A value: the caller waits. A delay counts from the moment of the answer or of the failure.
struct RetrySchedule: Equatable, Sendable {
    /// The purpose of the requests.
    enum Purpose: Sendable {
        case playback
        /// It matters more that the content arrives at all than that a person learns of a problem soon.
        case offlining
        /// A person waits for the answer, and learns at once that there is no network.
        case command
        /// Others wait behind it, and a later round asks again.
        case validation
        /// Content that goes on whatever one answer is: its retries are those of `LivePatience`.
        case live

        /// How often a request is repeated after 5XX and 429.
        var serverRetries: Int {
            switch self {
            case .playback, .command, .validation: 3
            case .offlining: 9
            case .live: 0
            }
        }

        /// How often a request is repeated when the network has failed; nil: without end.
        var networkRetries: Int? {
            switch self {
            case .playback, .offlining: nil
            case .command, .live: 0
            case .validation: 3
            }
        }

        /// Whether bytes that arrive make all retries available again. An answer that always breaks off would be asked
        /// for without end.
        var forgetsFailures: Bool { self != .validation }
    }

    /// The reason for a repetition.
    enum Failure: Equatable, Sendable {
        /// No complete answer.
        case network
        /// 5XX or 429.
        /// - Parameter retryAfter: seconds, as the answer asks for; nil when it does not.
        case server(retryAfter: Int64?)
    }

    private static let firstDelay: Int64 = 500_000_000
    /// Of repetitions without end.
    private static let longestNetworkDelay: Int64 = 30_000_000_000
    /// What an answer may ask for, in seconds: a larger number is a mistake, and would silence the player.
    private static let longestRetryAfter: Int64 = 3600
    /// What a validation waits for when it is asked to, in seconds.
    private static let longestValidationDelay: Int64 = 60

    private let purpose: Purpose
    private var networkFailures = 0
    private var serverFailures = 0

    init(_ purpose: Purpose) { self.purpose = purpose }

    /// - Returns: nanoseconds until the next attempt; nil when there is none.
    mutating func delay(after failure: Failure) -> Int64? {
        switch failure {
        case .network:
            if let limit = purpose.networkRetries, networkFailures >= limit { return nil }
            defer { networkFailures = min(networkFailures + 1, 32) }
            // 500 ms · 2⁶ is beyond the longest delay.
            return min(Self.firstDelay << Int64(min(networkFailures, 6)), Self.longestNetworkDelay)
        case .server(let retryAfter):
            guard serverFailures < purpose.serverRetries else { return nil }
            if purpose == .validation, retryAfter ?? 0 > Self.longestValidationDelay { return nil }
            defer { serverFailures += 1 }
            let asked = max(0, min(retryAfter ?? 0, Self.longestRetryAfter)) * 1_000_000_000
            return max(Self.firstDelay << Int64(serverFailures), asked)
        }
    }
}
