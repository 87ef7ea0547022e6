import Platform
import Player

@testable import Queue
@testable import CutProgram

/// A machine that has taken all effects of its start.
struct QueuePlay {
    var machine: QueueStateMachine
    var log: [String] = []

    init(
        _ letters: String, current: Character? = nil, repeating: RepeatMode = .off, rules: QueueRules = .appliance
    ) throws {
        var queue = PlayQueue()
        if !letters.isEmpty { queue = try PlayQueue(letters, current: current) }
        queue.repeatMode = repeating
        machine = QueueStateMachine(queue, rules: rules)
    }

    private func letter(_ product: MediaProduct?) -> String {
        product.map { "\($0.productId).\($0.referenceId.split(separator: ".").last ?? "?")" } ?? "-"
    }

    private func word(_ effect: QueueStateMachine.Effect) -> String {
        switch effect {
        case .load(let product): "load \(letter(product))"
        case .setNext(let product): "next \(letter(product))"
        case .play: "play"
        case .pause: "pause"
        case .reset: "reset"
        case .seek(let seconds, let reportsEnd): "seek \(seconds)\(reportsEnd ? "" : " at once")"
        case .wake(let nanoseconds): "wake \(nanoseconds / 1_000_000_000)"
        case .cancelWake: "cancel wake"
        case .notify(.failed(let entry, _)): "failed \(machine.contents.product(entry)?.productId ?? "?")"
        case .notify(.mediumMissing(let error)): "medium \(error == nil ? "back" : "missing")"
        case .notify(.serviceAway(let error)): "service \(error == nil ? "back" : "away")"
        case .notify(let message): "\(message)"
        }
    }

    mutating func handle(_ event: QueueStateMachine.Event, _ heard: QueueStateMachine.Heard = .init()) -> [String] {
        machine.handle(event, heard).map(word)
    }

    mutating func edit(_ change: (inout PlayQueue) -> Void) throws -> [String] {
        try machine.edit { queue throws(PlayQueueError) in change(&queue) }
        return machine.takeEffects().map(word)
    }

    /// The request that was numbered so, for an entry.
    func request(_ letter: Character, _ serial: UInt64) -> PlaybackRequest {
        PlaybackRequest(machine.contents.id(letter), serial: serial)
    }

    mutating func began(
        _ letter: Character, _ serial: UInt64, duration: Double? = 100, time: Int64 = 0
    ) -> [String] {
        handle(.began(request(letter, serial), duration: duration), QueueStateMachine.Heard(time: time))
    }

    mutating func failed(
        _ letter: Character, _ serial: UInt64, _ cause: PlayerError.Cause = .source(code: "m1"),
        failure: EntryFailure = .ofEntry, at position: Double? = nil
    ) -> [String] {
        let error = PlayerError(.unexpected, cause, message: "")
        return handle(.failed(request(letter, serial), error, failure), QueueStateMachine.Heard(position: position))
    }

    mutating func finished(_ letter: Character, _ serial: UInt64, time: Int64 = 0) -> [String] {
        handle(.finished(request(letter, serial)), QueueStateMachine.Heard(time: time))
    }
}
