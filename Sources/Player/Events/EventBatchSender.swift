import Events
import Platform

/// Sends one batch of events at a time. Each batch has its own thread until it is answered.
///
/// Thread: control.
struct EventBatchSender {
    private let service: EventService
    private let device: EventDevice
    private var thread: CancellableThread?

    init(_ service: EventService, _ device: EventDevice) { (self.service, self.device) = (service, device) }

    /// Begins to send a batch, and cancels an earlier one.
    /// - Parameter answered: called on the thread of the batch with the service's answer.
    mutating func send(
        _ batch: EventBatch, answered: @escaping @Sendable (BatchAnswer) -> Void
    ) throws(SystemError) {
        let former = thread
        former?.cancel()
        thread = nil
        thread = try CancellableThread("events", priority: .normal) { [service, device] cancellation in
            former?.join()
            answered(service.send(batch, device, cancellation))
        }
    }

    /// Asks the batch that is being sent to end, without waiting for it.
    func cancel() { thread?.cancel() }

    /// Ends the batch that is being sent, and returns when its thread has ended.
    mutating func end() {
        thread?.cancel()
        thread?.join()
        thread = nil
    }
}
