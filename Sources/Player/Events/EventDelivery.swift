import Database
import Events
import Network
import Platform

/// Delivers the events of the outbox to the service: carries out what `DeliveryMachine` decides.
///
/// Thread: control, except where a declaration says otherwise. `@unchecked Sendable` is safe because only control uses
/// its mutable state; other threads only post to `loop`.
final class EventDelivery: @unchecked Sendable {
    private let loop: EventLoop
    private let storage: StorageThread
    private let service: EventService
    private let clock: any MonotonicClock
    private let time: @Sendable () -> EventTime
    private let report: @Sendable (Report) -> Void
    private var machine = DeliveryMachine()
    private var timer: TimerToken?
    private var sender: EventBatchSender
    private var way = Way()

    /// A new value for readers outside the delivery.
    enum Report: Sendable {
        /// The numbers of the outbox, when they have changed.
        case counts(OutboxCounts)
        /// The account of the current login, when it may have changed.
        case account(AccountMark)
    }

    /// The conditions under which a batch may be sent.
    private struct Way {
        /// Whether the events that an earlier process left were counted. They are sent as soon as a batch may be sent.
        var isCounted = false
        /// The link; nil while it is unknown.
        var link: Link.Kind?
        var isOfflineMode = false

        var isLinked: Bool { link.map { $0 != .offline } ?? false }
        var isFree: Bool { isLinked && !isOfflineMode && isCounted }
    }

    /// - Parameters:
    ///   - time: returns the time now.
    ///   - report: called on the storage thread.
    init(
        loop: EventLoop, _ storage: StorageThread, _ service: EventService, _ device: EventDevice,
        clock: any MonotonicClock = SystemMonotonicClock(), time: @escaping @Sendable () -> EventTime,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.loop = loop
        self.storage = storage
        self.service = service
        sender = EventBatchSender(service, device)
        self.clock = clock
        self.time = time
        self.report = report
        storage.join()
    }

    // MARK: Events

    /// Counts the events that wait, and delivers them when it is time. Any thread.
    func eventsStored() {
        storage.query { [self] database in
            let account = service.account(of: nil)
            report(.account(account))
            guard let database else { return }
            do throws(DatabaseError) {
                let rows = OutboxRows(database)
                report(.counts(try rows.counts()))
                let deliverable = try rows.deliverable(for: account)
                loop.post { [self] in
                    handle(.waiting(deliverable))
                    guard !way.isCounted else { return }
                    way.isCounted = true
                    wayChanged()
                }
            } catch {
                Log.warning("the waiting events cannot be counted: \(error)")
            }
        }
    }

    func linkChanged(to kind: Link.Kind) {
        // A changed route of the same link does not change the delivery.
        guard kind != way.link else { return }
        // The service may be reachable over the new link and not over the former one.
        let wasLinked = way.isLinked
        way.link = kind
        if wasLinked, way.isLinked {
            sender.cancel()
            handle(.way(isFree: false))
        }
        wayChanged()
    }

    func offlineModeChanged(to isOn: Bool) {
        way.isOfflineMode = isOn
        wayChanged()
    }

    /// Sends the next batch at once. The new login may end the reason of a failure, or allow events of its account.
    func loginChanged() {
        eventsStored()
        storage.query { [self] _ in loop.post { [self] in handle(.loginChanged) } }
    }

    private func wayChanged() {
        let isFree = way.isFree
        if !isFree { sender.cancel() }
        handle(.way(isFree: isFree))
    }

    /// Ends a batch that is being sent. Its events stay until the service has confirmed them. No other call may follow.
    func shutDown() {
        if let timer { loop.cancel(timer) }
        timer = nil
        sender.end()
        storage.leave()
    }

    private func handle(_ event: DeliveryMachine.Event) {
        loop.assertOnLoop()
        for effect in machine.handle(event, at: clock.now()) { carryOut(effect) }
    }

    // MARK: Effects

    private func carryOut(_ effect: DeliveryMachine.Effect) {
        switch effect {
        case .setTimer(let time):
            if let timer { loop.cancel(timer) }
            timer = time.map { time in
                loop.schedule(after: max(0, time - clock.now())) { [self] in
                    timer = nil
                    handle(.timer)
                }
            }
        case .settle(let confirmed, let refused):
            if !refused.isEmpty { Log.warning("the service refuses \(refused.count) events for good") }
            storage.write(answerOn: nil) { [report] (database) throws(DatabaseError) in
                let rows = OutboxRows(database)
                try rows.confirm(confirmed)
                try rows.putAside(refused)
                report(.counts(try rows.counts()))
            } answer: { error in
                // The events of the batch are sent again. The service recognises their ids.
                if let error { Log.warning("the delivery of events cannot be recorded: \(error)") }
            }
        case .send(let limit, let number):
            send(limit, number)
        }
    }

    /// The storage thread settles the last batch before it reads this one, because it runs its work in order.
    private func send(_ limit: Int, _ number: Int) {
        storage.write(answerOn: nil) { (_) throws(DatabaseError) in
        } answer: { [self] error in
            // The last batch could not be settled: the same events would be sent again and again.
            guard error == nil else {
                return loop.post { [self] in handle(.answered(batch: number, .failed(retryAfter: nil))) }
            }
            storage.query { [self] database in
                let account = service.account(of: nil)
                var events: [OutboxRows.Waiting] = []
                do throws(DatabaseError) {
                    if let database { events = try OutboxRows(database).oldest(limit, of: account) }
                } catch {
                    Log.warning("the waiting events cannot be read: \(error)")
                }
                let now = time()
                let proof = now.isProved ? now.systemStart : nil
                let batch = EventBatch(
                    events: events.map { $0.corrected(by: proof) }, account: account, sentAt: now.milliseconds)
                loop.post { [self] in begin(batch, number) }
            }
        }
    }

    private func begin(_ batch: EventBatch, _ number: Int) {
        // Meanwhile sending became impossible, or another batch was decided.
        guard machine.waits(forBatch: number) else { return }
        guard !batch.events.isEmpty else { return handle(.nothingToSend(batch: number)) }
        do throws(SystemError) {
            try sender.send(batch) { [self] answer in
                loop.post { [self] in handle(.answered(batch: number, answer)) }
            }
        } catch {
            handle(.answered(batch: number, .failed(retryAfter: nil)))
        }
    }
}
