/// When what is kept is validated: at the start, and every six hours of running; products one after the other, the
/// longest overdue first. A state machine: events in, effects out.
///
/// Thread: control.
struct RevalidationRound {
    enum Event: Equatable {
        /// The engine begins, or the time of a rest is over.
        case due
        /// Whether the network may be used.
        case gateChanged(isOpen: Bool)
        /// The products that are due behind the last one; empty at the end.
        case found([OfflineItem])
        case ended(OfflineRevalidation.Outcome)
    }

    enum Effect: Equatable {
        /// Asks the database for some of those that are due behind (`at`, `product`).
        case find(at: Int64, product: String)
        case validate(OfflineItem)
        /// `ended` follows.
        case stop
        /// `due` follows.
        case rest
        /// A product is to be downloaded again.
        case jobAdded
    }

    private enum State {
        case resting
        /// The network may not be used now.
        case waiting
        case finding
        /// The first one is being validated.
        case validating([OfflineItem])
    }

    private var state = State.resting
    private var isOpen = false

    mutating func handle(_ event: Event) -> [Effect] {
        switch (event, state) {
        case (.due, .resting): return begin()
        case (.gateChanged(let isOpen), _):
            self.isOpen = isOpen
            switch state {
            case .waiting where isOpen: return begin()
            case .validating where !isOpen: return [.stop]
            default: return []
            }
        case (.found(let items), .finding):
            guard isOpen else {
                state = .waiting
                return []
            }
            return validate(items)
        case (.ended(let outcome), .validating(let items)):
            let added: [Effect] = outcome == .differs ? [.jobAdded] : []
            guard isOpen else {
                state = .waiting
                return added
            }
            // The network was away and is back before the stop was through.
            if outcome == .stopped { return begin() }
            if items.count > 1 { return added + validate(Array(items.dropFirst())) }
            state = .finding
            return added + [.find(at: items[0].validity.revalidateAt ?? .max, product: items[0].product.text)]
        default: return []
        }
    }

    private mutating func begin() -> [Effect] {
        guard isOpen else {
            state = .waiting
            return []
        }
        state = .finding
        return [.find(at: .min, product: "")]
    }

    private mutating func validate(_ items: [OfflineItem]) -> [Effect] {
        guard let first = items.first else {
            state = .resting
            return [.rest]
        }
        state = .validating(items)
        return [.validate(first)]
    }
}
