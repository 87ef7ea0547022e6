import Player

/// Whether the player is healthy, for a watchdog (docs/decisions/watchdog.md): its loops answer, the audio clock
/// advances while something is heard, and the decoder thread gets on with what it has. Waiting for a device, a medium
/// or a network is healthy, however long it takes.
struct HealthCheck {
    /// What a look at the player shows.
    struct Observation {
        var state: PlaybackState
        /// Whether the player's threads have answered since the last look.
        var loopsAnswer = true
        /// Of the active product.
        var referenceId: String?
        /// Where it is heard, in seconds.
        var position: Double?
        /// The device is missing, and is retried every second.
        var waitsForDevice = false
        /// `PlaybackEngine.decoderBeat`.
        var decoderBeat: UInt32?
        /// Of a monotonic clock, in nanoseconds.
        var time: Int64
    }

    enum Finding: Equatable {
        case healthy
        /// The threads do not answer.
        case loopsHang
        /// It should be heard, and the audio clock stands still.
        case clockStands
        /// The decoder thread has bytes, and nothing comes of them.
        case decoderHangs
    }

    /// The position at the last look.
    private struct Mark: Equatable {
        var referenceId: String?
        var position: Double?
    }

    /// How long a decoder thread may work without a sign of life, in nanoseconds. The longest stretch between two reads
    /// of a file takes far less than a second, also on a slow board.
    static let decoderPatience: Int64 = 60_000_000_000

    private var last: Mark?
    /// The decoder's last sign of life, and when it was first seen.
    private var decoder: (beat: UInt32, since: Int64)?

    mutating func look(_ now: Observation) -> Finding {
        let decoderHangs = noteDecoder(now)
        guard now.loopsAnswer else { return .loopsHang }
        guard now.state == .playing, !now.waitsForDevice else {
            last = nil
            return decoderHangs ? .decoderHangs : .healthy
        }
        let mark = Mark(referenceId: now.referenceId, position: now.position)
        defer { last = mark }
        if mark == last { return .clockStands }
        return decoderHangs ? .decoderHangs : .healthy
    }

    /// - Returns: whether the decoder thread hangs.
    private mutating func noteDecoder(_ now: Observation) -> Bool {
        guard let beat = now.decoderBeat else {
            decoder = nil
            return false
        }
        if let decoder, decoder.beat == beat { return now.time - decoder.since >= Self.decoderPatience }
        decoder = (beat, now.time)
        return false
    }
}
