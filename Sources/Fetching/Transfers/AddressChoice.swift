import Manifests
import Media

/// Decides which of the alternative addresses of a resource is requested next, and when an optional resource gives way
/// to something else (docs/playback.md, 15.16).
///
///     var choice = AddressChoice(["https://a/x", "https://b/x"], retries: nil)
///     choice.begin(ranks: [0, 0])          // https://a/x
///     choice.turn()                        // true: another address is requested at once
///     choice.begin(ranks: [1, 0])          // https://b/x
///     choice.turn()                        // false: all have failed
///
/// A value: the caller knows which addresses have failed in other transfers.
struct AddressChoice {
    /// The difference between two attempts.
    struct Change: Equatable {
        /// Whether the attempt uses another address than the one before.
        var isOtherAddress = false
        /// Whether the known properties of the resource may come from another address.
        var mixesHosts = false
    }

    /// The minimum number of retries of an optional resource after a part of it has arrived.
    private static let optionalRetries = 2
    /// An address that has delivered this many bytes works.
    private static let gain = 64 << 10

    /// The alternatives; none for the address of the request alone.
    private let addresses: [Alternatives.Address]
    /// How many rounds of retries all addresses get before something else is played; nil: by the retry schedule.
    private let retries: Int?
    /// The address of the current attempt, as an index of `addresses`.
    private var index = 0
    /// The alternatives that have failed since all were tried, or since bytes have arrived.
    private var tried: [Int] = []
    /// The number of consecutive failures, of all alternatives together.
    private var failures = 0
    /// The number of bytes since the last change of the address.
    private var gained = 0

    init(_ addresses: [Alternatives.Address], retries: Int?) {
        (self.addresses, self.retries) = (addresses, retries)
    }

    /// The address of the current attempt; nil for the address of the request.
    var current: Alternatives.Address? { addresses.isEmpty ? nil : addresses[index] }

    /// Whether the resource has more than one address.
    var hasAlternatives: Bool { addresses.count > 1 }

    /// Whether an address is left that has not failed, besides the current one.
    var isAnotherLeft: Bool { tried.count + 1 < addresses.count }

    /// Selects the first address that has not failed, or else the one that failed longest ago.
    /// - Parameters:
    ///   - ranks: the rank of each address, the lowest first: 0 for one that has not failed in any transfer.
    ///   - hasBytes: whether bytes of the resource have arrived.
    mutating func begin(ranks: [Int], hasBytes: Bool) -> Change {
        let left = addresses.indices.filter { !tried.contains($0) }
        guard let best = left.min(by: { ranks[$0] < ranks[$1] }) else { return Change() }
        let isOther = best != index
        index = best
        let mixes = hasBytes ? isOther : ranks.contains { $0 > 0 }
        return Change(isOtherAddress: isOther, mixesHosts: mixes && hasAlternatives)
    }

    /// Counts a failure of the current address.
    /// - Returns: whether an address is left that was not tried since the last success. Otherwise the next round begins
    ///   with all of them.
    mutating func turn() -> Bool {
        guard hasAlternatives else { return false }
        tried.append(index)
        gained = 0
        if tried.count < addresses.count { return true }
        tried = []
        return false
    }

    /// Counts a failure of all addresses.
    /// - Returns: whether to give up, because something else can be played.
    mutating func givesWay(hasBytes: Bool) -> Bool {
        guard let retries else { return false }
        failures += 1
        return failures > (hasBytes ? max(retries, Self.optionalRetries) : retries)
    }

    /// Counts bytes from the current address. A few bytes before a cut do not count: enough of them make the earlier
    /// failures void.
    /// - Returns: whether the address works.
    mutating func arrive(_ count: Int) -> Bool {
        gained += count
        guard gained >= Self.gain else { return false }
        (tried, failures) = ([], 0)
        return true
    }
}
