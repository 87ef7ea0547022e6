import Media
import Platform

/// The addresses that have failed in this session, so that others that stand for them are asked first.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards what changes.
final class FailedAddresses: @unchecked Sendable {
    private struct Entry {
        /// A base or a host.
        var name: [UInt8]
        var time: Int64
    }

    /// More do not help: the oldest are forgotten.
    private static let most = 64
    /// After so long a base that has refused something is in reach again, in nanoseconds: one answer says little about
    /// others.
    private static let refusal: Int64 = 60_000_000_000

    private let clock: any MonotonicClock
    private let lock = Lock()
    /// The one that has failed last at the end.
    private var failed: [Entry] = []

    init(clock: any MonotonicClock = SystemMonotonicClock()) { self.clock = clock }

    /// - Parameter isOfHost: whether nothing else on that host would have been better.
    func add(_ address: Alternatives.Address, isOfHost: Bool) {
        lock.withLock {
            append(Array(address.base.utf8))
            if isOfHost { append(Self.host(of: address.url)) }
        }
    }

    /// Something has come from there.
    func succeeded(_ address: Alternatives.Address) {
        lock.withLock {
            guard !failed.isEmpty else { return }
            let host = Self.host(of: address.url)
            failed.removeAll { $0.name == host || $0.name.elementsEqual(address.base.utf8) }
        }
    }

    private func append(_ name: [UInt8]) {
        failed.removeAll { $0.name == name }
        failed.append(Entry(name: name, time: clock.now()))
        if failed.count > Self.most { failed.removeFirst() }
    }

    /// The order in which addresses are asked, the lowest first: 0 for one that has not failed.
    func rank(_ address: Alternatives.Address) -> Int {
        lock.withLock {
            let base = failed.firstIndex { $0.name.elementsEqual(address.base.utf8) }
            let host = Self.host(of: address.url)
            return max(base ?? -1, failed.firstIndex { $0.name == host } ?? -1) + 1
        }
    }

    /// Whether it is worth choosing what lies there: its host has answered, and has refused nothing of late.
    func isInReach(_ address: Alternatives.Address) -> Bool {
        let (now, host) = (clock.now(), Self.host(of: address.url))
        return lock.withLock {
            !failed.contains { entry in
                entry.name == host
                    || entry.name.elementsEqual(address.base.utf8) && now - entry.time < Self.refusal
            }
        }
    }

    /// Another link is in use: what has failed on the one before says nothing about it.
    func forget() { lock.withLock { failed = [] } }

    /// With its scheme.
    private static func host(of url: String) -> [UInt8] {
        var slashes = 0
        return Array(
            url.utf8.prefix { byte in
                if byte == UInt8(ascii: "/") { slashes += 1 }
                return slashes < 3
            })
    }
}

/// The ways in which one resource can be asked for.
struct ResourceAddresses {
    var alternatives: Alternatives
    var failed: FailedAddresses
    /// How often all addresses are asked again before something else is played; nil: as the schedule says.
    var retries: Int?

    /// - Parameters:
    ///   - patience: `.endless` unless there is something else to play.
    ///   - hasWorked: whether other resources have come from there.
    init(
        _ alternatives: Alternatives, failed: FailedAddresses, _ patience: Patience = .endless, hasWorked: Bool = false
    ) {
        (self.alternatives, self.failed) = (alternatives, failed)
        retries = patience.retries(hasWorked: hasWorked)
    }
}
