import Database
import Platform

/// Changes of the outbox's tables that belong together: a step of a session, and the events that follow from it.
package struct OutboxChanges: Sendable {
    package enum Step: Sendable {
        case begin(SessionStart)
        case fact(SessionFact, session: String)
        /// Ends all sessions that a power cut has left open.
        case endLeft(EventForm)
    }

    package struct Entry: Sendable {
        package var event: PlayerEvent
        /// The event as it is sent.
        package var body: String
        package var account: AccountMark
    }

    var step: Step?
    package var events: [Entry]
    /// The largest sum of the waiting events, in bytes.
    var limit: Int64
    /// The number of earlier events that could not be stored and had no room in memory.
    var lostCount: Int64 = 0

    /// Whether the change contains only the position that was reached.
    var isPosition: Bool {
        if case .fact(let fact, _) = step, case .reached = fact.kind { return events.isEmpty && lostCount == 0 }
        return false
    }

    /// Whether the numbers of the outbox may change.
    var mayChangeCounts: Bool {
        if case .endLeft = step { return true }
        return !events.isEmpty || lostCount > 0
    }

    /// Applies the changes inside a transaction of the caller.
    package func apply(to rows: OutboxRows) throws(DatabaseError) {
        switch step {
        case nil: break
        case .begin(let start): try rows.begin(start)
        case .fact(let fact, let session): try rows.append(fact, to: session)
        case .endLeft(let form): try endLeft(rows, form)
        }
        try add(events, to: rows)
        if lostCount > 0 { try rows.countDropped(lostCount) }
    }

    private func add(_ events: [Entry], to rows: OutboxRows) throws(DatabaseError) {
        for entry in events { try rows.add(entry.event, entry.body, of: entry.account, limit: limit) }
    }

    /// Removes waiting events that the user refuses now, and ends the sessions of the last start. The time and the
    /// position of the last stored fact are the end.
    private func endLeft(_ rows: OutboxRows, _ form: EventForm) throws(DatabaseError) {
        for category in EventCategory.allCases where !form.consent.contains(category) { try rows.forget(category) }
        for (start, facts) in try rows.openSessions() {
            var session = SessionEvents(start, form.device, newID: form.newID)
            for fact in facts { _ = session.add(fact) }
            let last = facts.max { $0.time.milliseconds < $1.time.milliseconds }
            let end = SessionFact(last?.time ?? start.time, .ended(position: session.cutOffPosition, .other))
            let events = form.entries(session.add(end), of: start.account)
            try rows.append(end, to: start.id)
            try add(events, to: rows)
        }
    }
}
