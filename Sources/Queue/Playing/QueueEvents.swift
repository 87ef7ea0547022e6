import Player

/// The events and effects of the queue's state machine.
extension QueueStateMachine {
    enum Event: Equatable {
        // Requests of the user.
        /// Load the current entry at a position, when the stored queue is resumed.
        case resume(position: Double, playing: Bool)
        /// Make the entry after this one current, without loading it.
        case passOver(EntryID)
        case play
        case pause
        case toggle
        case stop
        case next
        case previous
        case seek(seconds: Double)

        // Requests of the focus.
        case release
        case regain

        // Messages of the engine.
        case began(PlaybackRequest, duration: Double?)
        case finished(PlaybackRequest)
        case failed(PlaybackRequest, PlayerError, EntryFailure)
        case engineIs(PlaybackState)
        case contextChanged
        case revoked(otherDevice: String?)
        /// A seek with `reportsEnd` was carried out.
        case sought

        /// Another link is in use.
        case linkChanged
        /// The time of `wake` has passed.
        case woken

        /// Whether a user has requested this event just now. A resumed queue was requested before the restart.
        var isOfUser: Bool {
            switch self {
            case .passOver, .play, .pause, .toggle, .stop, .next, .previous, .seek: true
            case .resume, .release, .regain, .began, .finished, .failed, .engineIs, .contextChanged, .revoked, .sought,
                .linkChanged, .woken:
                false
            }
        }
    }

    enum Effect: Equatable {
        case load(MediaProduct)
        case setNext(MediaProduct?)
        case play
        case pause
        case reset
        /// With `reportsEnd`, `.sought` follows when the engine has carried out the seek.
        case seek(seconds: Double, reportsEnd: Bool)
        /// Report `.woken` after this many nanoseconds. Replaces an earlier wake.
        case wake(after: Int64)
        case cancelWake
        case notify(QueueMessage)
    }

    /// The engine's state at the moment of an event.
    struct Heard {
        /// The position in seconds; nil when no product is loaded.
        var position: Double?
        /// The duration of the active product in seconds; nil when it is unknown.
        var duration: Double?
        /// The time of a monotonic clock, in nanoseconds.
        var time: Int64 = 0
    }
}
