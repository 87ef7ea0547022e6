import Media
import Platform

/// The addresses that have failed in this session, so that others that stand for them are asked first.
///
/// Thread: any. `@unchecked Sendable` is safe because `lock` guards what changes.
final class FailedAddresses: @unchecked Sendable {
    /// More do not help: the oldest are forgotten.
    private static let most = 64

    private let lock = Lock()
    /// Bases and hosts, the one that has failed last at the end.
    private var failed: [[UInt8]] = []

    /// - Parameter isOfHost: whether nothing else on that host would have been better.
    func add(_ address: Alternatives.Address, isOfHost: Bool) {
        lock.withLock {
            append(Array(address.base.utf8))
            if isOfHost { append(Self.host(of: address.url)) }
        }
    }

    private func append(_ name: [UInt8]) {
        failed.removeAll { $0 == name }
        failed.append(name)
        if failed.count > Self.most { failed.removeFirst() }
    }

    /// The order in which addresses are asked, the lowest first: 0 for one that has not failed.
    func rank(_ address: Alternatives.Address) -> Int {
        lock.withLock {
            let base = failed.firstIndex { $0.elementsEqual(address.base.utf8) }
            let host = Self.host(of: address.url)
            return max(base ?? -1, failed.firstIndex { $0 == host } ?? -1) + 1
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
    /// So often an address that has worked before is asked again: half a minute passes meanwhile.
    private static let retriesOfWorking = 6

    var alternatives: Alternatives
    var failed: FailedAddresses
    /// How often all addresses are asked again before something else is played; nil: as the schedule says.
    var retries: Int?

    /// - Parameters:
    ///   - isOptional: whether there is something else to play.
    ///   - hasWorked: whether other resources have come from there.
    init(_ alternatives: Alternatives, failed: FailedAddresses, isOptional: Bool = false, hasWorked: Bool = false) {
        (self.alternatives, self.failed) = (alternatives, failed)
        retries = isOptional ? (hasWorked ? Self.retriesOfWorking : 0) : nil
    }
}
