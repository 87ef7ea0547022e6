/// Everything that the playback engine's bus carries, in the order in which it happened (docs/playback.md,
/// 2).
public enum PlaybackMessage: Equatable, Sendable {
    /// Raised just before the state changes to `.idle`, and only for the active product.
    case error(PlayerError)
    case mediaProductTransition(MediaProductTransition)
    case playbackStateChanged(PlaybackState)
    /// The quality changed inside a product. The context is whole, not just what changed.
    case playbackQualityChanged(PlaybackContext)
    /// Another device plays with the same subscription; playback was paused. `otherDevice` is its name, where known.
    case streamingPrivilegesRevoked(otherDevice: String?)
}

/// The active product changed (docs/playback.md, 2.2).
///
/// An implicit transition is sent when the first frame of the new product is heard, not when it was decoded.
public struct MediaProductTransition: Equatable, Sendable {
    /// The product that was active before; nil when nothing was.
    public var previous: MediaProduct?
    /// The product that is active now; nil when the last one has ended.
    public var active: MediaProduct?
    /// What is really played; nil when the last one has ended.
    public var context: PlaybackContext?

    public init(previous: MediaProduct?, active: MediaProduct?, context: PlaybackContext?) {
        self.previous = previous
        self.active = active
        self.context = context
    }
}

/// What the playback engine is doing right now, not to which product (docs/playback.md, 1.2).
public enum PlaybackState: Equatable, Sendable {
    /// No active product and none set as next.
    case idle
    /// The active product is heard.
    case playing
    /// There is an active product, and it is not supposed to play.
    case notPlaying
    /// It is supposed to play and cannot, for lack of data or of a device; it goes on by itself.
    case stalled
}
