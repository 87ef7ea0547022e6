import Player

/// Whether the player does what it should, for a watchdog: the audio clock advances while it plays, or it is silent on
/// purpose, or it waits for something that it can name and tries again by itself. Anything else is a player that hangs.
struct HealthCheck {
    /// Where playback was.
    private struct Mark: Equatable {
        var referenceId: String?
        var position: Double?
    }

    private var last: Mark?

    /// - Parameters:
    ///   - referenceId: of the active product.
    ///   - position: where it is heard, in seconds.
    ///   - waitsForDevice: the device is not there, and is tried again every second.
    mutating func isHealthy(
        _ state: PlaybackState, referenceId: String?, position: Double?, waitsForDevice: Bool
    ) -> Bool {
        switch state {
        case .idle, .notPlaying:
            last = nil
            return true
        case .playing, .stalled:
            if waitsForDevice {
                last = nil
                return true
            }
            let mark = Mark(referenceId: referenceId, position: position)
            defer { last = mark }
            return mark != last
        }
    }
}
