import Platform
import Playback

/// Lets the playing product have the network: downloads wait while the playing product waits for bytes.
///
/// Thread: control.
/// `@unchecked Sendable` is safe because only control uses its mutable state.
package final class PlaybackPrecedence: @unchecked Sendable {
    /// The time between two looks at playback that waits, in nanoseconds.
    private static let interval: Int64 = 1_000_000_000

    /// The object on which the running downloads wait.
    let turn = NetworkTurn()
    /// Whether playback needs the network.
    private(set) var isTaken = false
    private let loop: EventLoop
    /// Called when `isTaken` has changed; nil after the end.
    var changed: (@Sendable () -> Void)?

    init(loop: EventLoop) { self.loop = loop }

    /// Looks at playback each time that it stalls.
    package func observe(_ bus: Bus<PlaybackMessage>, _ playback: PublishedPlayback) {
        bus.subscribe { [self] message in
            guard case .playbackStateChanged(.stalled) = message else { return }
            playbackStalled { playback.isWaitingForMedium }
        }
    }

    /// - Parameter isWaiting: whether playback waits for bytes. Called now, and each second while it returns true.
    func playbackStalled(_ isWaiting: @escaping () -> Bool) {
        loop.assertOnLoop()
        let isTaken = isWaiting()
        if isTaken != self.isTaken {
            self.isTaken = isTaken
            turn.setTaken(isTaken)
            changed?()
        }
        guard isTaken, changed != nil else { return }
        loop.schedule(after: Self.interval) { [self] in playbackStalled(isWaiting) }
    }
}
