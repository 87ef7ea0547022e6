import Manifests
import Media
import Platform

/// The addresses that have failed in this session, so that their alternatives are requested
/// first (docs/decisions/asking-again.md).
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards the mutable state.
package final class FailedAddresses: @unchecked Sendable {
    private struct Entry {
        /// A base address or a host.
        var name: [UInt8]
        var time: Int64
    }

    /// The maximum number of entries: the oldest are forgotten.
    private static let most = 64
    /// How long a base that has refused something counts as out of reach, in nanoseconds. It is short, because one
    /// refusal says little about other resources.
    private static let refusal: Int64 = 60_000_000_000

    private let clock: any MonotonicClock
    private let lock = Lock()
    /// The most recent failure is the last element.
    private var failed: [Entry] = []
    /// The hosts that take long to begin an answer, and the timeouts for their first bytes in milliseconds.
    private var slow: [(name: [UInt8], timeout: Int)] = []

    package init(clock: any MonotonicClock = SystemMonotonicClock()) { self.clock = clock }

    /// - Parameter isOfHost: whether every other request to that host would have failed too.
    func add(_ address: Alternatives.Address, isOfHost: Bool) {
        lock.withLock {
            append(Array(address.base.utf8))
            if isOfHost { append(Self.host(of: address.url)) }
        }
    }

    /// Removes an address that has delivered something, and its host.
    func succeeded(_ address: Alternatives.Address) {
        lock.withLock {
            guard !failed.isEmpty else { return }
            let host = Self.host(of: address.url)
            failed.removeAll { $0.name == host || $0.name.elementsEqual(address.base.utf8) }
        }
    }

    /// Returns the timeout for the first byte of a request, in milliseconds; nil: as configured.
    func firstByteTimeout(of url: String) -> Int? {
        lock.withLock { slow.isEmpty ? nil : slow.first { $0.name == Self.host(of: url) }?.timeout }
    }

    /// Records how long a host has taken to begin an answer: its next answers may take as long.
    func answered(_ url: String, after nanoseconds: Int64) {
        let timeout = FirstBytePatience.timeout(afterAnswerIn: Int(clamping: nanoseconds / 1_000_000))
        lock.withLock {
            guard timeout != nil || !slow.isEmpty else { return }
            let host = Self.host(of: url)
            slow.removeAll { $0.name == host }
            if slow.count == Self.most { slow.removeFirst() }
            if let timeout { slow.append((host, timeout)) }
        }
    }

    private func append(_ name: [UInt8]) {
        failed.removeAll { $0.name == name }
        failed.append(Entry(name: name, time: clock.now()))
        if failed.count > Self.most { failed.removeFirst() }
    }

    /// Returns the order in which to request addresses, the lowest first: 0 for one that has not failed.
    func rank(_ address: Alternatives.Address) -> Int {
        lock.withLock {
            let base = failed.firstIndex { $0.name.elementsEqual(address.base.utf8) }
            let host = Self.host(of: address.url)
            return max(base ?? -1, failed.firstIndex { $0.name == host } ?? -1) + 1
        }
    }

    /// Returns whether a resource at the address may be chosen: its host has answered, and its base has refused nothing
    /// recently.
    package func isInReach(_ address: Alternatives.Address) -> Bool {
        let (now, host) = (clock.now(), Self.host(of: address.url))
        return lock.withLock {
            !failed.contains { entry in
                entry.name == host
                    || entry.name.elementsEqual(address.base.utf8) && now - entry.time < Self.refusal
            }
        }
    }

    /// Forgets all failures after a change of the link, because they say nothing about the new link.
    package func forget() { lock.withLock { (failed, slow) = ([], []) } }

    /// Returns the host with its scheme.
    private static func host(of url: String) -> [UInt8] {
        var slashes = 0
        return Array(
            url.utf8.prefix { byte in
                if byte == UInt8(ascii: "/") { slashes += 1 }
                return slashes < 3
            })
    }
}

/// The alternative addresses of one resource.
package struct ResourceAddresses {
    var alternatives: Alternatives
    var failed: FailedAddresses
    /// How many rounds of retries all addresses get before something else is played; nil: by the retry schedule.
    var retries: Int?

    /// - Parameters:
    ///   - patience: `.endless` unless there is something else to play.
    ///   - hasWorked: whether other resources have arrived from these addresses.
    package init(
        _ alternatives: Alternatives, failed: FailedAddresses, _ patience: Patience = .endless, hasWorked: Bool = false
    ) {
        (self.alternatives, self.failed) = (alternatives, failed)
        retries = patience.retries(hasWorked: hasWorked)
    }

    /// Whether nothing else may be quicker: neither another address, nor another representation at once.
    var isOnlyWay: Bool { alternatives.addresses.count < 2 && retries != 0 }
}

extension ResourceAddresses {
    /// Records that an address has answered with something other than the resource, so that the others are requested
    /// first.
    /// - Parameter url: the address of the answer; nil when it is unknown.
    package func turnAway(from url: String?) {
        let addresses = alternatives.addresses
        guard addresses.count > 1 else { return }
        let asked = url.flatMap { url in addresses.first { $0.url.utf8.elementsEqual(url.utf8) } }
        guard let address = asked ?? addresses.min(by: { failed.rank($0) < failed.rank($1) }) else { return }
        failed.add(address, isOfHost: false)
    }
}
