/// Slows down guessing of the password: after five wrong attempts it allows one a minute, until one is right.
///
/// All clients share one limit: an attacker on the same network has many addresses.
struct AttemptLimit: Equatable {
    private static let freeAttempts = 5
    /// The time between two attempts, in seconds.
    private static let pause: Int64 = 60

    private var failures = 0
    private var lastFailure: Int64 = 0

    /// - Parameter now: the time in seconds.
    func allowsAttempt(at now: Int64) -> Bool {
        failures < Self.freeAttempts || !(lastFailure..<(lastFailure + Self.pause)).contains(now)
    }

    mutating func failed(at now: Int64) {
        failures = min(failures + 1, Self.freeAttempts)
        lastFailure = now
    }

    mutating func succeeded() { failures = 0 }
}
