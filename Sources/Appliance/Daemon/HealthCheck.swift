import Player

/// Whether the player is healthy, for a watchdog (docs/decisions/watchdog.md). Its loops must answer, the audio clock
/// must advance while music is heard, and the decoder thread must make progress. Waiting for a device, a medium or a
/// network is healthy, however long it takes.
struct HealthCheck {
    /// The state of the player at one check.
    struct Observation {
        var state: PlaybackState
        /// Whether the player's threads have answered since the last check.
        var loopsAnswer = true
        /// The reference id of the active product.
        var referenceId: String?
        /// The position that is heard, in seconds.
        var position: Double?
        /// Whether the device is missing, which is retried every second.
        var waitsForDevice = false
        /// `PlaybackEngine.decoderBeat`.
        var decoderBeat: UInt32?
        /// The time of a monotonic clock, in nanoseconds.
        var time: Int64
    }

    enum Finding: Equatable {
        case healthy
        /// The threads do not answer.
        case loopsHang
        /// Music should be heard, and the audio clock does not advance.
        case clockStands
        /// The decoder thread has bytes, and makes no progress.
        case decoderHangs
    }

    /// The product and its position at a check.
    private struct Mark: Equatable {
        var referenceId: String?
        var position: Double?
    }

    /// How long a decoder thread may work without a new beat, in nanoseconds. The longest time between two reads of a
    /// file is far less than a second, even on a slow board.
    static let decoderPatience: Int64 = 60_000_000_000

    private var last: Mark?
    /// The decoder's last beat, and when it was first seen.
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
