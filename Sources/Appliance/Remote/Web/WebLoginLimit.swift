/// Limits how often passwords are tried from one address. A value.
///
///     var limit = WebLoginLimit()
///     limit.wait(for: address, at: now)    // 0: a password may be tried
///     limit.failed(address, at: now)
struct WebLoginLimit {
    /// The failures after which the next attempt has to wait.
    static let freeFailures = 4
    /// The longest wait, in seconds.
    static let longestWait: Int64 = 300
    /// The most addresses that are remembered. A newer one takes the place of the oldest.
    static let addressLimit = 256

    private struct Failures {
        var address: ArraySlice<UInt8>
        var count: Int
        /// The time from which on the next attempt is accepted, in seconds.
        var end: Int64
    }

    private var all: [Failures] = []

    /// The part of an address that attempts are counted for. A customer of a provider has 64 bits of a global address
    /// of IPv6, and may change the others. The machines of one house share those bits of a local address.
    private static func network(_ address: [UInt8]) -> ArraySlice<UInt8> {
        // 2000::/3 has the global addresses (RFC 4291, 2.4).
        (address.first ?? 0) & 0xE0 == 0x20 ? address.prefix(8) : address[...]
    }

    /// Returns how many seconds an address has to wait; 0 when it may try.
    func wait(for address: [UInt8], at now: Int64) -> Int64 {
        let network = Self.network(address)
        guard let failures = all.first(where: { $0.address == network }) else { return 0 }
        return max(0, failures.end - now)
    }

    /// Notes a wrong password. From the fifth one on, the wait doubles with each.
    mutating func failed(_ address: [UInt8], at now: Int64) {
        let network = Self.network(address)
        var failures = Failures(address: network, count: 0, end: now)
        if let place = all.firstIndex(where: { $0.address == network }) { failures = all.remove(at: place) }
        failures.count += 1
        let excess = failures.count - Self.freeFailures
        if excess > 0 { failures.end = now + min(Self.longestWait, Int64(1) << min(excess, 10)) }
        all.append(failures)
        if all.count > Self.addressLimit { all.removeFirst() }
    }

    /// Forgets the failures of an address that has given the password.
    mutating func succeeded(_ address: [UInt8]) {
        let network = Self.network(address)
        all.removeAll { $0.address == network }
    }
}
