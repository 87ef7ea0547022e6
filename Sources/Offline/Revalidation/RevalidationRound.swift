import Playback

/// Decides when offline copies are re-validated: at the start, and every six hours of running. Products follow one
/// after the other, the longest overdue first. The service is asked about a product at most once a round, and at most
/// once an hour (`AskedProducts`). A state machine: events in, effects out.
///
/// Thread: control.
struct RevalidationRound {
    enum Event: Equatable {
        /// The engine has started, or the time of a rest has passed.
        case due
        /// Whether the network may be used.
        case gateChanged(isOpen: Bool)
        /// The answer to `find`: the next products that are due; empty at the end.
        case found([OfflineItem])
        case ended(OfflineRevalidation.Outcome)
    }

    enum Effect: Equatable {
        /// Asks the database for some of the products that are due after (`at`, `product`).
        case find(at: Int64, product: String)
        case validate(OfflineItem)
        /// `ended` follows.
        case stop
        /// `due` follows.
        case rest
        /// A download of a product was added.
        case downloadAdded(ServiceAddress)
    }

    private enum State {
        case resting
        /// The network may not be used now.
        case waiting
        case finding
        /// - Parameter rest: the other products of the page, the next one first.
        case validating(OfflineItem, rest: ArraySlice<OfflineItem>, isStopping: Bool)
    }

    private var state = State.resting
    private var isOpen = false
    private var asked = AskedProducts()
    /// Whether the gate has changed since the present validation began: its finding may be outdated.
    private var hasChanged = false

    /// - Parameter now: the time by a monotonic clock, in nanoseconds.
    mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
        switch (event, state) {
        case (.due, .resting): return begin(now)
        case (.gateChanged(let isOpen), _):
            self.isOpen = isOpen
            hasChanged = true
            switch state {
            case .waiting where isOpen: return begin(now)
            case .validating(let item, let rest, false) where !isOpen:
                state = .validating(item, rest: rest, isStopping: true)
                return [.stop]
            default: return []
            }
        case (.found(let items), .finding): return proceed(with: items[...], now)
        case (.ended(let outcome), .validating(let item, let rest, let isStopping)):
            let isUnasked = outcome == .metered || outcome == .notBegun || outcome == .stopped && isStopping
            if isUnasked { asked.remove(item.product) }
            let added: [Effect] = outcome == .differs ? [.downloadAdded(item.product)] : []
            if outcome == .metered, !hasChanged {
                // Wait until the gate changes, which each change of a route causes.
                state = .waiting
                return added
            }
            // The network may be back already.
            if !isOpen || isUnasked { return added + begin(now) }
            return added + (rest.isEmpty ? find(after: item) : proceed(with: rest, now))
        default: return []
        }
    }

    private mutating func begin(_ now: Int64) -> [Effect] {
        guard isOpen else {
            state = .waiting
            return []
        }
        asked.beginRound(at: now)
        state = .finding
        return [.find(at: .min, product: "")]
    }

    private mutating func find(after item: OfflineItem) -> [Effect] {
        state = .finding
        return [.find(at: item.validity.revalidateAt ?? .max, product: item.product.text)]
    }

    /// - Parameter items: the next products in their order; empty at the end of the round.
    private mutating func proceed(with items: ArraySlice<OfflineItem>, _ now: Int64) -> [Effect] {
        guard isOpen else {
            state = .waiting
            return []
        }
        guard let last = items.last, !asked.isFull else {
            state = .resting
            return [.rest]
        }
        guard let index = items.firstIndex(where: { asked.allows($0.product, at: now) }) else {
            return find(after: last)
        }
        asked.insert(items[index].product, at: now)
        hasChanged = false
        state = .validating(items[index], rest: items[(index + 1)...], isStopping: false)
        return [.validate(items[index])]
    }
}
