import Platform

/// How events are made: the machine that they name, the consent of the user, and their ids.
package struct EventForm: Sendable {
    package var device: EventDevice
    /// The categories whose events the user allows. Others are not even stored.
    package var consent: Set<EventCategory>
    /// The largest sum of the waiting events, in bytes.
    package var outboxLimit: Int64
    /// Makes an id that is unique in the world.
    package var newID: @Sendable () -> String

    package init(
        _ device: EventDevice, consent: Set<EventCategory>, outboxLimit: Int64 = OutboxLimits.outbox,
        newID: @escaping @Sendable () -> String = { SystemRandomSource().uuid() }
    ) {
        self.device = device
        self.consent = consent
        self.outboxLimit = outboxLimit
        self.newID = newID
    }

    /// Returns the changes of a whole session, for a transaction of another module: the state that the session is about
    /// and its events are then stored together.
    package func changes(_ start: SessionStart, _ facts: [SessionFact]) -> OutboxChanges {
        var session = SessionEvents(start, device, newID: newID)
        var events = session.begin()
        for fact in facts { events += session.add(fact) }
        return changes(nil, events, of: start.account)
    }

    func changes(
        _ step: OutboxChanges.Step?, _ events: [PlayerEvent], of account: AccountMark = .none
    ) -> OutboxChanges {
        OutboxChanges(step: step, events: entries(events, of: account), limit: outboxLimit)
    }

    func entries(_ events: [PlayerEvent], of account: AccountMark) -> [OutboxChanges.Entry] {
        events.filter { consent.contains($0.category) }.map {
            .init(event: $0, body: device.envelope(of: $0), account: account)
        }
    }
}
