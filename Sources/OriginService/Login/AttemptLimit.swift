/// Slows down guessing of the password: after five wrong ones, one a minute, until a right one.
///
/// It is one for all clients: an attacker on the same network has many addresses.
struct AttemptLimit: Equatable {
    private static let freeAttempts = 5
    /// In seconds.
    private static let pause: Int64 = 60

    private var failures = 0
    private var lastFailure: Int64 = 0

    /// - Parameter now: in seconds.
    func allowsAttempt(at now: Int64) -> Bool {
        failures < Self.freeAttempts || !(lastFailure..<(lastFailure + Self.pause)).contains(now)
    }

    mutating func failed(at now: Int64) {
        failures = min(failures + 1, Self.freeAttempts)
        lastFailure = now
    }

    mutating func succeeded() { failures = 0 }
}
