import Events
import Platform
import Playback

/// The sessions of the current and the next item. Passes the facts of `SessionObserver` to the log.
///
/// Thread: control.
final class PlaybackSessions: PlaybackObserver {
    private struct Session {
        var id: String
        let product: MediaProduct
        let reason: SessionStart.Reason
        /// Whether the playbackinfo was fetched; otherwise the content is an offline copy.
        var isFetched = false
        var content: SessionContent?
        /// The fetch that is running, and the time at which it began.
        var fetch: (resource: SessionFetch.Resource, began: EventTime)?
    }

    /// The time between two records of the position, in nanoseconds. A record waits for the next write of the state,
    /// at most until the next record (docs/playback.md, 19.13).
    private static let interval: Int64 = 15_000_000_000

    private let log: SessionLog
    private let timer: any StartTimer
    private var isTimed = false
    private var observer = SessionObserver()
    private var sessions: [ItemID: Session] = [:]

    /// - Parameter timer: runs while a recorded product is heard.
    init(_ log: SessionLog, timer: any StartTimer) {
        self.log = log
        self.timer = timer
    }

    /// Begins the session of an item whose source is being opened.
    func opens(_ item: ItemID, _ product: MediaProduct, session id: String, isNext: Bool) {
        let reason: SessionStart.Reason = isNext ? .implicit : .explicit
        guard log.begin(id, product, reason) else { return }
        sessions[item] = Session(id: id, product: product, reason: reason)
    }

    /// Records the ends of the items that the effects close. Call it before the effects are carried out.
    func willCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment
    ) {
        for fact in observer.ends(event, effects, before) {
            let isEnd = if case .ended = fact.kind { true } else { false }
            if isEnd, let session = sessions[fact.item] { cancelFetch(session) }
            add(fact.kind, to: fact.item)
            if isEnd { sessions[fact.item] = nil }
        }
    }

    /// Records all facts except the ends of items. Call it after the effects were carried out.
    /// - Parameter now: returns the state of the engine when it is called, to record the position every 15 s.
    func didCarryOut(
        _ event: PlaybackStateMachine.Event, _ effects: [PlaybackStateMachine.Effect], _ before: PlaybackMoment,
        _ after: PlaybackMoment, now: @escaping () -> PlaybackMoment
    ) {
        for fact in observer.facts(event, effects, before, after) { add(fact.kind, to: fact.item) }
        time(after, now)
    }

    /// Records the position every 15 s while it changes, so that a power cut loses little of it.
    private func time(_ moment: PlaybackMoment, _ now: @escaping () -> PlaybackMoment) {
        let isNeeded = moment.isSounding && moment.current.map { sessions[$0] != nil } ?? false
        guard isNeeded != isTimed else { return }
        isTimed = isNeeded
        if !isNeeded { return timer.cancel() }
        timer.start(after: Self.interval) { [self] in
            isTimed = false
            let moment = now()
            if let item = moment.current, let position = moment.position { add(.reached(position: position), to: item) }
            time(moment, now)
        }
    }

    private func add(_ kind: SessionFact.Kind, to item: ItemID) {
        guard let session = sessions[item] else { return }
        if case .opened(var content) = kind {
            content.isOfflineCopy = !session.isFetched
            sessions[item]?.content = content
            return log.add(.opened(content), to: session.id)
        }
        log.add(kind, to: session.id)
    }

    /// Records a fetch for an item that is being opened, or plays.
    func fetches(_ item: ItemID, _ report: FetchReport, _ moment: PlaybackMoment) {
        switch report {
        case .began(let resource):
            sessions[item]?.isFetched = true
            sessions[item]?.fetch = (SessionFetch.Resource(resource), log.now)
        case .ended(let fetch):
            sessions[item]?.fetch = nil
            add(.fetched(SessionFetch(fetch)), to: item)
        }
    }

    /// Records that the end of a session has cancelled the fetch that was running.
    private func cancelFetch(_ session: Session) {
        guard let fetch = session.fetch else { return }
        let milliseconds = max(0, log.now.milliseconds - fetch.began.milliseconds)
        log.add(.fetched(SessionFetch(fetch.resource, milliseconds: milliseconds, .other)), to: session.id)
    }

    /// Begins a new session of an item whose source starts over. The former session ends at the position that is heard.
    /// - Parameter moment: the current state of the engine.
    func renewed(_ item: ItemID, session id: String, _ moment: PlaybackMoment) {
        guard var session = sessions[item] else { return }
        let isCurrent = item == moment.current
        log.add(.ended(position: isCurrent ? moment.position : nil, .other), to: session.id)
        session.id = id
        session.isFetched = false
        session.fetch = nil
        sessions[item] = session
        guard log.begin(id, session.product, session.reason) else {
            sessions[item] = nil
            return
        }
        if let content = session.content { log.add(.opened(content), to: id) }
        guard isCurrent, moment.wantsToPlay else { return }
        log.add(.requested, to: id)
        if moment.isSounding { log.add(.started(position: moment.position ?? 0), to: id) }
    }

    /// Ends all sessions at the end of the program.
    func ends(_ moment: PlaybackMoment) {
        timer.cancel()
        for (item, session) in sessions {
            cancelFetch(session)
            log.add(.ended(position: item == moment.current ? moment.position : nil, .other), to: session.id)
        }
        sessions = [:]
    }
}
