import PlayerTestSupport
import TestSupport
import Testing

@testable import Playback
@testable import Player

@Suite("Invariants of the playback engine")
struct PlaybackInvariantTests {
    @Test("messages, items and properties fit together", arguments: 0..<200 as Range<UInt64>)
    func invariants(seed: UInt64) {
        var random = Random(seed)
        var machine = PlaybackStateMachine()
        var open: Set<ItemID> = []
        var lastItem: UInt64 = 0
        var state = PlaybackState.idle
        var active: MediaProduct?
        var generation: UInt64 = 0
        /// The items that can be heard.
        var ready: Set<ItemID> = []
        for _ in 0..<400 {
            let event = random.event(&lastItem, generation, machine, open: open, ready)
            switch event {
            case .opened(let id, _): ready.insert(id)
            case .failed(let id, _, hasFrames: false): ready.remove(id)
            default: break
            }
            let effects = machine.handle(event)
            for (index, effect) in effects.enumerated() {
                switch effect {
                case .open(let id, _, _):
                    #expect(open.insert(id).inserted)
                case .close(let id):
                    #expect(open.remove(id) != nil, "closed twice")
                case .begin(let id), .seek(let id, _), .finish(let id), .follow(.some(let id)):
                    #expect(open.contains(id))
                case .run(let new), .watchStart(let new):
                    generation = new
                case .send(.playbackStateChanged(let new)):
                    #expect(new != state, "the same state twice")
                    #expect(index == effects.count - 1, "the state comes last")
                    state = new
                case .send(.mediaProductTransition(let transition)):
                    #expect(transition.previous == active)
                    #expect((transition.active == nil) == (transition.context == nil))
                    active = transition.active
                case .send(.error(let error)):
                    #expect(error.mediaProduct != nil)
                    #expect(effects.last == .send(.playbackStateChanged(.idle)), "an error comes just before IDLE")
                case .send, .hold, .silence, .follow(nil):
                    break
                }
            }
            if state == .idle { active = nil }
            #expect(machine.playbackState == state)
            #expect(machine.announced == active)
            #expect(open.contains(machine.currentItem))
            // The next item may wait for the current one.
            #expect(open.subtracting([machine.currentItem, machine.nextItem].compactMap { $0 }).isEmpty)
        }
    }
}

extension Set<ItemID> {
    fileprivate func contains(_ id: ItemID?) -> Bool { id.map { contains($0) } ?? true }
}

/// Events as the outside could send them, in any order.
private struct Random {
    private var generator: SeededRandom

    init(_ seed: UInt64) { generator = SeededRandom(seed) }

    mutating func event(
        _ lastItem: inout UInt64, _ generation: UInt64, _ machine: PlaybackStateMachine, open: Set<ItemID>,
        _ ready: Set<ItemID>
    ) -> PlaybackStateMachine.Event {
        let product = [a, b, c].randomElement(using: &generator)!
        let items =
            [machine.currentItem, machine.nextItem].compactMap { $0 }.filter { open.contains($0) }
            + [ItemID(number: 99_999)]
        let item = items.randomElement(using: &generator)!
        let error = PlayerError(.unexpected, code: "m3", message: "", mediaProduct: product)
        func newItem() -> ItemID {
            lastItem += 1
            return ItemID(number: lastItem)
        }
        switch Int.random(in: 0..<23, using: &generator) {
        case 0: return .load(product, newItem())
        case 1, 2: return .setNext(product, newItem())
        case 3: return .setNext(nil, newItem())
        case 4, 5: return .play
        case 6: return .pause
        case 7: return .seek(seconds: 3)
        case 8: return .skipToNext
        case 9: return .reset
        case 10, 11, 12: return .opened(item, contextOfA)
        case 13: return .repositioned(item)
        case 14: return .failed(item, error, hasFrames: true)
        case 15: return .failed(item, error, hasFrames: false)
        case 16: return .running(generation: generation)
        case 17: return .starved(generation: generation)
        case 18: return .startIsLate(generation: generation)
        case 19: return machine.nextItem.flatMap { ready.contains($0) ? .heard($0) : nil } ?? .pause
        case 20: return machine.currentItem.flatMap { ready.contains($0) ? .ended($0) : nil } ?? .play
        case 21: return .fetched(item)
        default: return .qualityChanged(item, contextOfB)
        }
    }
}
