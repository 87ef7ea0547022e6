import TestSupport
import Testing
@testable import Events

/// A machine whose answers belong to its last batch.
private struct NumberedMachine {
    enum Event {
        case waiting(Int64)
        case way(isFree: Bool)
        case loginChanged
        case timer
        case nothingToSend
        case answered(BatchAnswer)
    }

    enum Effect: Equatable {
        case send(limit: Int)
        case settle(confirmed: [Int64], refused: [Int64])
        case setTimer(at: Int64?)
    }

    private var machine = DeliveryMachine()
    private(set) var batch = 0

    mutating func handle(_ event: Event, at now: Int64) -> [Effect] {
        switch event {
        case .waiting(let count): take(.waiting(count), at: now)
        case .way(let isFree): take(.way(isFree: isFree), at: now)
        case .loginChanged: take(.loginChanged, at: now)
        case .timer: take(.timer, at: now)
        case .nothingToSend: take(.nothingToSend(batch: batch), at: now)
        case .answered(let answer): take(.answered(batch: batch, answer), at: now)
        }
    }

    mutating func take(_ event: DeliveryMachine.Event, at now: Int64) -> [Effect] {
        machine.handle(event, at: now).map {
            switch $0 {
            case .send(let limit, let batch):
                self.batch = batch
                return .send(limit: limit)
            case .settle(let confirmed, let refused): return .settle(confirmed: confirmed, refused: refused)
            case .setTimer(let time): return .setTimer(at: time)
            }
        }
    }
}

/// docs/playback.md, 19.
@Suite("Delivery of events")
struct DeliveryMachineTests {
    private static let second: Int64 = 1_000_000_000

    fileprivate func free() -> NumberedMachine {
        var machine = NumberedMachine()
        #expect(machine.handle(.way(isFree: true), at: 0) == [])
        return machine
    }

    @Test("the first event waits 30 s for others, and one run sends all")
    func gathers() {
        var machine = free()
        #expect(machine.handle(.waiting(1), at: 5) == [.setTimer(at: 30 * Self.second + 5)])
        #expect(machine.handle(.waiting(12), at: 6) == [])
        #expect(machine.handle(.timer, at: 30 * Self.second + 5) == [.send(limit: 10)])
        let numbers = Array(Int64(1)...10)
        #expect(
            machine.handle(.answered(.settled(confirmed: numbers, refused: [], left: [])), at: 31)
                == [.settle(confirmed: numbers, refused: []), .send(limit: 10)])
        #expect(
            machine.handle(.answered(.settled(confirmed: [11, 12], refused: [], left: [])), at: 32)
                == [.settle(confirmed: [11, 12], refused: [])])
    }

    @Test("50 waiting events are sent at once")
    func crowd() {
        var machine = free()
        #expect(machine.handle(.waiting(49), at: 0) == [.setTimer(at: 30 * Self.second)])
        #expect(machine.handle(.waiting(50), at: 1) == [.setTimer(at: nil), .send(limit: 10)])
        machine = free()
        #expect(machine.handle(.waiting(60), at: 0) == [.send(limit: 10)])
    }

    @Test("without a way nothing is sent, and a free way sends at once")
    func way() {
        var machine = NumberedMachine()
        #expect(machine.handle(.waiting(70), at: 0) == [])
        #expect(machine.handle(.timer, at: 1) == [])
        #expect(machine.handle(.way(isFree: true), at: 2) == [.send(limit: 10)])
        #expect(machine.handle(.way(isFree: false), at: 3) == [.setTimer(at: nil)])
        // The answer of the last request still counts.
        #expect(
            machine.handle(.answered(.settled(confirmed: [1], refused: [], left: [])), at: 4)
                == [.settle(confirmed: [1], refused: [])])
        #expect(machine.handle(.way(isFree: true), at: 5) == [.send(limit: 10)])
    }

    @Test("the answer of an earlier batch settles its events, and does not end the present batch")
    func lateAnswer() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        let first = machine.batch
        _ = machine.handle(.way(isFree: false), at: 1)
        #expect(machine.handle(.way(isFree: true), at: 2) == [.send(limit: 10)])
        #expect(machine.take(.answered(batch: first, .failed(retryAfter: nil)), at: 3) == [])
        #expect(
            machine.take(
                .answered(batch: first, .settled(confirmed: [1], refused: [], left: [])), at: 3)
                == [.settle(confirmed: [1], refused: [])])
        #expect(
            machine.handle(.answered(.settled(confirmed: [2], refused: [], left: [])), at: 4)
                == [.settle(confirmed: [2], refused: []), .send(limit: 10)])
    }

    @Test("failures rest for 30 s, doubled up to an hour, or as long as the service asks")
    func rests() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        var delays: [Int64] = []
        for _ in 0..<9 {
            guard case .setTimer(let time?) = machine.handle(.answered(.failed(retryAfter: nil)), at: 0).first else {
                return
            }
            delays.append(time / Self.second)
            #expect(machine.handle(.waiting(51), at: 0) == [], "a new event does not end the rest")
            #expect(machine.handle(.timer, at: 0) == [.send(limit: 10)])
        }
        #expect(delays == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
        machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        #expect(
            machine.handle(.answered(.failed(retryAfter: 90 * Self.second)), at: 7)
                == [.setTimer(at: 90 * Self.second + 7)])
    }

    @Test("another login ends a rest, and the time before a run; with nothing to send it does nothing")
    func login() {
        var machine = free()
        #expect(machine.handle(.loginChanged, at: 0) == [])
        _ = machine.handle(.waiting(1), at: 0)
        #expect(machine.handle(.loginChanged, at: 1) == [.setTimer(at: nil), .send(limit: 10)])
        _ = machine.handle(.answered(.failed(retryAfter: 900 * Self.second)), at: 2)
        #expect(machine.handle(.loginChanged, at: 3) == [.setTimer(at: nil), .send(limit: 10)])
        // While a batch is on its way: its failure is repeated at once, its success is not.
        #expect(machine.handle(.loginChanged, at: 20 * Self.second) == [])
        #expect(machine.handle(.answered(.failed(retryAfter: nil)), at: 21 * Self.second) == [.send(limit: 10)])
        #expect(machine.handle(.loginChanged, at: 40 * Self.second) == [])
        #expect(
            machine.handle(.answered(.settled(confirmed: [1], refused: [], left: [])), at: 41 * Self.second)
                == [.settle(confirmed: [1], refused: [])])
        _ = machine.handle(.way(isFree: false), at: 0)
        #expect(machine.handle(.loginChanged, at: 60 * Self.second) == [])
    }

    @Test("a login repeats a failed batch without a rest, at most once in 10 s", arguments: [false, true])
    func repeats(duringBatch: Bool) {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        /// Another login, and then the failure of the batch; or first the failure.
        func fail(at now: Int64) -> [NumberedMachine.Effect] {
            if duringBatch { #expect(machine.handle(.loginChanged, at: now) == []) }
            let effects = machine.handle(.answered(.failed(retryAfter: nil)), at: now)
            return duringBatch ? effects : machine.handle(.loginChanged, at: now)
        }
        let again: [NumberedMachine.Effect] =
            duringBatch ? [.send(limit: 10)] : [.setTimer(at: nil), .send(limit: 10)]
        let interval = DeliveryMachine.repeatInterval
        #expect(interval == 10 * Self.second)
        #expect(fail(at: 5) == again)
        #expect(fail(at: interval + 4).allSatisfy { $0 != .send(limit: 10) })
        #expect(machine.handle(.timer, at: interval + 4) == [.send(limit: 10)])
        #expect(fail(at: interval + 5) == again)
        // The last repetition counts, not the first one.
        #expect(fail(at: 2 * interval + 4).allSatisfy { $0 != .send(limit: 10) })
    }

    @Test("a login before a batch does not repeat it")
    func earlierLogin() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        #expect(machine.handle(.loginChanged, at: 0) == [])
        #expect(machine.handle(.answered(.failed(retryAfter: nil)), at: 0) == [.send(limit: 10)])
        #expect(
            machine.handle(.answered(.failed(retryAfter: nil)), at: 60 * Self.second)
                == [.setTimer(at: 90 * Self.second)])
    }

    @Test("a batch that is refused with each new token rests as long as other failures")
    func refusedTokens() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        var now: Int64 = 0
        var rests: [Int64] = []
        for _ in 0..<6 {
            for effect in machine.handle(.answered(.failed(retryAfter: nil)), at: now) {
                if case .setTimer(let time?) = effect { rests.append((time - now) / Self.second) }
            }
            // The refresh of this batch is reported after its answer.
            now += 1
            if machine.handle(.loginChanged, at: now).isEmpty {
                now += (rests.last ?? 0) * Self.second
                _ = machine.handle(.timer, at: now)
            }
        }
        #expect(rests == [30, 60, 120, 240, 480, 960])
    }

    @Test("events that the service could not take stay, and the run goes to rest")
    func left() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        #expect(
            machine.handle(.answered(.settled(confirmed: [1], refused: [2], left: [3, 4])), at: 0)
                == [.settle(confirmed: [1], refused: [2]), .setTimer(at: 30 * Self.second)])
    }

    @Test("an event that is never answered is put aside in the end, and does not block the others")
    func unanswered() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        for _ in 1...4 {
            #expect(machine.handle(.answered(.settled(confirmed: [], refused: [], left: [1, 2])), at: 0).count == 1)
            _ = machine.handle(.timer, at: 0)
        }
        #expect(
            machine.handle(.answered(.settled(confirmed: [], refused: [], left: [1, 2])), at: 0) == [.send(limit: 1)])
        #expect(
            machine.handle(.answered(.settled(confirmed: [], refused: [], left: [1])), at: 0)
                == [.settle(confirmed: [], refused: [1]), .send(limit: 1)])
        #expect(
            machine.handle(.answered(.settled(confirmed: [2], refused: [], left: [])), at: 0)
                == [.settle(confirmed: [2], refused: []), .send(limit: 10)])
    }

    @Test("a refused batch is sent again one by one, and only the event that is refused alone is put aside")
    func refusedBatch() {
        var machine = free()
        _ = machine.handle(.waiting(50), at: 0)
        #expect(machine.handle(.answered(.refusedBatch([1, 2])), at: 0) == [.send(limit: 1)])
        #expect(
            machine.handle(.answered(.refusedBatch([1])), at: 0)
                == [.settle(confirmed: [], refused: [1]), .send(limit: 1)])
        #expect(
            machine.handle(.answered(.settled(confirmed: [2], refused: [], left: [])), at: 0)
                == [.settle(confirmed: [2], refused: []), .send(limit: 10)])
    }

    @Test("every event is settled once, whatever the service answers", arguments: 0..<200 as Range<UInt64>)
    func model(_ seed: UInt64) {
        var random = SeededRandom(seed)
        var machine = free()
        var outbox: [Int64] = []
        var settled: [Int64] = []
        var (last, now): (Int64, Int64) = (0, 0)
        var timer: Int64?
        var sending: [Int64]?
        func apply(_ effects: [NumberedMachine.Effect]) {
            for effect in effects {
                switch effect {
                case .send(let limit): sending = Array(outbox.prefix(limit))
                case .settle(let confirmed, let refused):
                    settled += confirmed + refused
                    outbox.removeAll { (confirmed + refused).contains($0) }
                case .setTimer(let time): timer = time
                }
            }
        }
        for step in 0..<400 {
            let isLast = step >= 200
            now += Int64.random(in: 0...(20 * Self.second), using: &random)
            if !isLast, Int.random(in: 0..<3, using: &random) == 0 {
                for _ in 0..<Int.random(in: 1...15, using: &random) {
                    last += 1
                    outbox.append(last)
                }
                apply(machine.handle(.waiting(Int64(outbox.count)), at: now))
            }
            if !isLast, Int.random(in: 0..<12, using: &random) == 0 {
                timer = nil
                apply(machine.handle(.way(isFree: false), at: now))
            } else {
                apply(machine.handle(.way(isFree: true), at: now))
            }
            if Int.random(in: 0..<9, using: &random) == 0 { apply(machine.handle(.loginChanged, at: now)) }
            if let batch = sending {
                sending = nil
                if batch.isEmpty {
                    apply(machine.handle(.nothingToSend, at: now))
                } else {
                    let answer: BatchAnswer =
                        switch isLast ? 0 : Int.random(in: 0..<5, using: &random) {
                        case 0, 1: .settled(confirmed: batch, refused: [], left: [])
                        case 2: .settled(confirmed: Array(batch.dropFirst()), refused: Array(batch.prefix(1)), left: [])
                        case 3: .refusedBatch(batch)
                        default: .failed(retryAfter: nil)
                        }
                    apply(machine.handle(.answered(answer), at: now))
                }
            }
            if let time = timer, isLast || time <= now {
                timer = nil
                now = max(now, time)
                apply(machine.handle(.timer, at: now))
            }
        }
        #expect(outbox.isEmpty, "\(outbox.count) events are left with seed \(seed)")
        #expect(settled.sorted() == (last == 0 ? [] : Array(1...last)))
    }
}
