/// The state of playback in one word, for the user.
package enum QueuePlayback: Equatable, Sendable, CaseIterable {
    /// Nothing is current.
    case stopped
    case paused
    case playing
    /// The entry should play and cannot, because data, the device or the focus is missing. Playback continues by itself
    /// when they return.
    case stalled
}
