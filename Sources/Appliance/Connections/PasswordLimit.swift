import Platform

/// Limits how often passwords are tried: from one address, and from all addresses together.
///
///     var limit = PasswordLimit()
///     limit.wait(for: address, at: now)    // 0: a password may be tried
///     limit.failed(address, at: now)
///
/// An address that has given the password is remembered, and the failures of other addresses do not delay it.
package struct PasswordLimit: Sendable {
    /// The failures of one address after which the next attempt has to wait.
    static let freeFailures = 4
    /// The longest wait, in seconds.
    static let longestWait: Int64 = 300
    /// The most addresses that are remembered. A newer address replaces the oldest one.
    static let addressLimit = 256
    /// The failures of all addresses after which the next attempt has to wait.
    static let commonFailures: Int64 = 20
    /// The time in which one of these failures is forgotten, in seconds.
    static let commonInterval: Int64 = 30
    /// The maximum number of remembered addresses that have given the password.
    static let knownLimit = 64

    private struct Failures {
        var network: [UInt8]
        var count: Int
        /// The time from which on the next attempt is accepted, in seconds.
        var end: Int64
    }

    private var all: [Failures] = []
    /// The time at which all failures of all addresses are forgotten, in seconds.
    private var commonEnd: Int64 = .min
    /// The networks that have given the password; the latest is last.
    private var known: [[UInt8]] = []

    package init() {}

    /// Returns how many seconds an address has to wait; 0 when it may try.
    /// - Parameters:
    ///   - address: 16 bytes; empty for a client of this machine's own sockets.
    ///   - now: the time in seconds of a monotonic clock.
    package func wait(for address: [UInt8], at now: Int64) -> Int64 {
        let network = ClientPlaces.network(of: address)
        let own = all.first { $0.network == network }.map { $0.end - now } ?? 0
        let isKnown = known.contains { $0 == network }
        let common = isKnown || commonEnd <= now ? 0 : commonEnd - now - (Self.commonFailures - 1) * Self.commonInterval
        return max(0, own, common)
    }

    /// Notes a wrong password. From the fifth one of an address on, the wait doubles with each.
    package mutating func failed(_ address: [UInt8], at now: Int64) {
        let network = ClientPlaces.network(of: address)
        var failures = Failures(network: network, count: 0, end: now)
        if let index = all.firstIndex(where: { $0.network == network }) { failures = all.remove(at: index) }
        failures.count += 1
        let excess = failures.count - Self.freeFailures
        if excess > 0 { failures.end = now + min(Self.longestWait, Int64(1) << min(excess, 10)) }
        all.append(failures)
        if all.count > Self.addressLimit { all.removeFirst() }
        if !known.contains(where: { $0 == network }) { commonEnd = max(commonEnd, now) + Self.commonInterval }
    }

    /// Forgets the failures of an address that has given the password. The last of them was noted before the password
    /// was compared.
    package mutating func succeeded(_ address: [UInt8]) {
        let network = ClientPlaces.network(of: address)
        all.removeAll { $0.network == network }
        if let index = known.firstIndex(where: { $0 == network }) {
            known.remove(at: index)
        } else {
            commonEnd -= Self.commonInterval
        }
        known.append(network)
        if known.count > Self.knownLimit { known.removeFirst() }
    }
}
