import Player

/// Whether the player is healthy, for a watchdog (docs/decisions/watchdog.md): its loops answer, and the audio clock
/// advances while something is heard. Waiting for a device or for a medium is healthy, however long it takes.
struct HealthCheck {
    /// The position at the last look.
    private struct Mark: Equatable {
        var referenceId: String?
        var position: Double?
    }

    private var last: Mark?

    /// - Parameters:
    ///   - loopsAnswer: whether the player's threads have answered since the last look.
    ///   - referenceId: of the active product.
    ///   - position: where it is heard, in seconds.
    ///   - waitsForDevice: the device is missing, and is retried every second.
    mutating func isHealthy(
        _ state: PlaybackState, loopsAnswer: Bool, referenceId: String?, position: Double?, waitsForDevice: Bool
    ) -> Bool {
        guard loopsAnswer else { return false }
        guard state == .playing, !waitsForDevice else {
            last = nil
            return true
        }
        let mark = Mark(referenceId: referenceId, position: position)
        defer { last = mark }
        return mark != last
    }
}
