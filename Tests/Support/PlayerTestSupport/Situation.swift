@testable import Playback
@testable import Player

package let a = MediaProduct(productType: .track, productId: "1", referenceId: "a")
package let b = MediaProduct(productType: .track, productId: "2", referenceId: "b")
package let c = MediaProduct(productType: .track, productId: "3", referenceId: "c")
package let first = ItemID(number: 1)
package let second = ItemID(number: 2)
package let third = ItemID(number: 3)
package let contextOfA = context(of: a)
package let contextOfB = context(of: b)
package let errorOfA = PlayerError(.unexpected, code: "m3", message: "a", mediaProduct: a)
package let errorOfB = PlayerError(.unexpected, code: "m3", message: "b", mediaProduct: b)
package let aToB = PlaybackStateMachine.Effect.send(
    .mediaProductTransition(MediaProductTransition(previous: a, active: b, context: contextOfB)))
package let ends: [PlaybackStateMachine.Effect] = [.silence(releaseDevice: true), .send(.playbackStateChanged(.idle))]

private func context(of product: MediaProduct) -> PlaybackContext {
    var context = PlaybackContext(
        productId: product.productId, playbackSessionId: "session", referenceId: product.referenceId)
    context.duration = 10
    return context
}

/// A machine that a test and its arguments can hold.
package final class Machine {
    package private(set) var value = PlaybackStateMachine()
    package init() {}

    package func handle(_ event: PlaybackStateMachine.Event, heard: Double? = nil) -> [PlaybackStateMachine.Effect] {
        value.handle(event, heard: heard)
    }
}

/// Every situation that the playback engine can be in. Product a is active, b is next.
package enum Situation: CaseIterable {
    case idle
    case loading, loadingToPlay
    case paused, pausedNextLoading, pausedNextReady, pausedSeeking
    /// Playback was requested; no frame is heard yet.
    case starting
    case playing, nextLoading, nextReady, nextFailed
    case stalled
    /// Product a cannot be decoded to its end.
    case failing, failingNextReady
    case seeking

    private var events: [PlaybackStateMachine.Event] {
        let setNext = PlaybackStateMachine.Event.setNext(b, second)
        return switch self {
        case .idle: []
        case .loading: [.load(a, first), .fetched(first)]
        case .loadingToPlay: Self.loading.events + [.play]
        case .paused: Self.loading.events + [.opened(first, contextOfA)]
        case .pausedNextLoading: Self.paused.events + [setNext]
        case .pausedNextReady: Self.pausedNextLoading.events + [.opened(second, contextOfB)]
        case .pausedSeeking: Self.paused.events + [.seek(seconds: 1)]
        case .starting: Self.paused.events + [.play]
        case .playing: Self.starting.events + [.running(generation: 1)]
        case .nextLoading: Self.playing.events + [setNext]
        case .nextReady: Self.nextLoading.events + [.opened(second, contextOfB)]
        case .nextFailed: Self.nextLoading.events + [.failed(second, errorOfB, hasFrames: false)]
        case .stalled: Self.playing.events + [.starved(generation: 1)]
        case .failing: Self.playing.events + [.failed(first, errorOfA, hasFrames: true)]
        case .failingNextReady: Self.nextReady.events + [.failed(first, errorOfA, hasFrames: true)]
        case .seeking: Self.playing.events + [.seek(seconds: 1)]
        }
    }

    package func machine() -> Machine {
        let machine = Machine()
        for event in events { _ = machine.handle(event) }
        return machine
    }

    package var state: PlaybackState { machine().value.playbackState }
    package var generation: UInt64 { self == .seeking ? 2 : plays ? 1 : 0 }
    package var isSeeking: Bool { self == .seeking || self == .pausedSeeking }

    /// Whether playback is requested.
    package var plays: Bool {
        switch self {
        case .idle, .loading, .paused, .pausedNextLoading, .pausedNextReady, .pausedSeeking: false
        default: true
        }
    }

    package var hasNext: Bool {
        switch self {
        case .pausedNextLoading, .pausedNextReady, .nextLoading, .nextReady, .nextFailed, .failingNextReady: true
        default: false
        }
    }

    /// The effects that close everything that is open.
    package var closing: [PlaybackStateMachine.Effect] {
        (self == .idle ? [] : [.close(first)]) + (hasNext ? [.close(second)] : [])
    }
}
