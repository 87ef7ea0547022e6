import Database
import Platform

/// Records sessions: keeps their facts, and gives the events that follow from them to the outbox or to a sender.
///
/// With an outbox, a fact and its events are one transaction. A power cut loses neither an event of a fact that is
/// stored, nor does it leave an event of a fact that is not. A session that a power cut has ended gets its end at the
/// next start, with the position that was stored last.
///
///     let recorder = SessionRecorder(.outbox(storage), EventForm(device, consent: [.playLog]))
///     recorder.begin(start)
///     recorder.add(SessionFact(clock.now, .started(position: 0)), to: start.id)
///
/// Thread: one, the owner's. The storage thread carries the changes out.
package final class SessionRecorder {
    /// The receiver of the events.
    package enum Receiver {
        case outbox(StorageThread)
        case sender(any EventSender)
    }

    private enum Output {
        case outbox(OutboxWriter)
        case sender(any EventSender)
    }

    private let output: Output
    private let form: EventForm
    private var sessions: [String: SessionEvents] = [:]

    /// - Parameter stored: called on the storage thread when events wait in the outbox.
    package init(
        _ receiver: Receiver, _ form: EventForm, stored: @escaping @Sendable () -> Void = {}
    ) {
        output =
            switch receiver {
            case .outbox(let storage): .outbox(OutboxWriter(storage, stored: stored))
            case .sender(let sender): .sender(sender)
            }
        self.form = form
    }

    /// Ends the use of the storage. The last call.
    package func close() { if case .outbox(let writer) = output { writer.close() } }

    /// Whether a session is recorded: it has begun and not ended.
    package func records(_ session: String) -> Bool { sessions[session] != nil }

    package func begin(_ start: SessionStart) {
        guard !form.consent.isEmpty, sessions[start.id] == nil else { return }
        let session = SessionEvents(start, form.device, newID: form.newID)
        sessions[start.id] = session
        deliver(.begin(start), session.begin(), of: start.account)
    }

    /// Appends a fact. A fact of a session that has not begun, or has ended, is ignored.
    package func add(_ fact: SessionFact, to session: String) {
        guard let events = sessions[session]?.add(fact), let recorded = sessions[session] else { return }
        if recorded.isEnded { sessions[session] = nil }
        deliver(.fact(fact, session: session), events, of: recorded.start.account)
    }

    private func deliver(_ step: OutboxChanges.Step, _ events: [PlayerEvent], of account: AccountMark) {
        switch output {
        case .sender(let sender):
            for event in events where form.consent.contains(event.category) { sender.send(event) }
        case .outbox(let writer):
            writer.write(form.changes(step, events, of: account))
        }
    }

    // MARK: After a power cut

    /// Ends the sessions that a power cut or a crash has left open. Call it once, before the first session.
    package func endLeftSessions() {
        guard case .outbox(let writer) = output else { return }
        writer.write(form.changes(.endLeft(form), []))
    }
}
