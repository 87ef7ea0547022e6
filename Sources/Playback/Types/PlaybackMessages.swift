/// All messages on the playback engine's bus, in order (docs/playback.md, 2).
public enum PlaybackMessage: Equatable, Sendable {
    /// Sent just before the state changes to `.idle`, and only for the active product.
    case error(PlayerError)
    case mediaProductTransition(MediaProductTransition)
    case playbackStateChanged(PlaybackState)
    /// The quality changed inside a product. The context is complete and not limited to the change.
    case playbackQualityChanged(PlaybackContext)
    /// Another device plays with the same subscription; playback was paused. `otherDevice` is its name, if known.
    case streamingPrivilegesRevoked(otherDevice: String?)
}

/// The active product changed (docs/playback.md, 2.2).
///
/// An implicit transition is sent when the first frame of the new product is heard, not when it was decoded.
public struct MediaProductTransition: Equatable, Sendable {
    /// The product that was active before; nil when there was none.
    public var previous: MediaProduct?
    /// The product that is active now; nil when the last one has ended.
    public var active: MediaProduct?
    /// The context of the active product; nil when the last one has ended.
    public var context: PlaybackContext?

    public init(previous: MediaProduct?, active: MediaProduct?, context: PlaybackContext?) {
        self.previous = previous
        self.active = active
        self.context = context
    }
}

/// The state of the playback engine, independent of the product (docs/playback.md, 1.2).
public enum PlaybackState: Equatable, Sendable {
    /// No active product and none set as next.
    case idle
    /// The active product is heard.
    case playing
    /// There is an active product, and it should not play.
    case notPlaying
    /// The product should play and cannot, because data or the device is missing; Playback continues by itself when
    /// they return.
    case stalled
}
