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
    /// The gate has changed since the present validation began: what it found may not be so any more.
    private var hasChanged = false

    mutating func handle(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
        handle(event, &effects)
        return effects
    }

    private mutating func handle(_ event: Event, _ effects: inout [Effect]) {
        switch (event, state) {
        case (.due, .resting): begin(&effects)
        case (.gateChanged(let isOpen), _):
            self.isOpen = isOpen
            hasChanged = true
            switch state {
            case .waiting where isOpen: begin(&effects)
            case .validating where !isOpen: effects.append(.stop)
            default: break
            }
        case (.found(let items), .finding):
            if isOpen { validate(items, &effects) } else { state = .waiting }
        case (.ended(let outcome), .validating(let items)):
            if outcome == .differs { effects.append(.jobAdded) }
            if !isOpen || outcome == .metered && !hasChanged {
                // Until the gate changes: each change of a route is one.
                state = .waiting
            } else if outcome == .stopped || outcome == .metered {
                // The network was away and is back before the stop was through.
                begin(&effects)
            } else if items.count > 1 {
                validate(Array(items.dropFirst()), &effects)
            } else {
                state = .finding
                effects.append(.find(at: items[0].validity.revalidateAt ?? .max, product: items[0].product.text))
            }
        default: break
        }
    }

    private mutating func begin(_ effects: inout [Effect]) {
        guard isOpen else {
            state = .waiting
            return
        }
        state = .finding
        effects.append(.find(at: .min, product: ""))
    }

    private mutating func validate(_ items: [OfflineItem], _ effects: inout [Effect]) {
        if let first = items.first {
            state = .validating(items)
            hasChanged = false
            effects.append(.validate(first))
        } else {
            state = .resting
            effects.append(.rest)
        }
    }
}
