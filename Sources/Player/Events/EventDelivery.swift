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

    /// A value that others may read.
    enum Report: Sendable {
        /// The numbers of the outbox, when they have changed.
        case counts(OutboxCounts)
        /// The account of the present login, when it may have changed.
        case account(AccountMark)
    }

    /// Whether a batch may go.
    private struct Way {
        /// Whether the waiting events of the last start were counted: they are sent as soon as there is a way.
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
        // A changed route of the same link says nothing new: the delivery stays as it is.
        guard kind != way.link else { return }
        // Another link may have a way to the service that the former one had not.
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

    /// The next batch goes at once: the reason of a failure may be gone, and the events of another account may go now.
    func loginChanged() {
        eventsStored()
        storage.query { [self] _ in loop.post { [self] in handle(.loginChanged) } }
    }

    private func wayChanged() {
        let isFree = way.isFree
        if !isFree { sender.cancel() }
        handle(.way(isFree: isFree))
    }

    /// Ends a batch that is on its way; its events stay until the service has confirmed them. The last call.
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
                // They are sent again, and the service recognises their ids.
                if let error { Log.warning("the delivery of events cannot be recorded: \(error)") }
            }
        case .send(let limit, let number):
            send(limit, number)
        }
    }

    /// Reads after the last batch was settled: the storage thread carries out both in their order.
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
        // The way was blocked meanwhile, or another batch has been decided since.
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
