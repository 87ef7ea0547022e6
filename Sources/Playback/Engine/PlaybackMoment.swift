/// The playback engine at a moment, as far as an observer needs it.
package struct PlaybackMoment: Equatable {
    package var current: ItemID?
    /// Whether frames of the current item are heard.
    package var isSounding: Bool
    /// Whether the user wants the current item to play.
    package var wantsToPlay: Bool
    package var state: PlaybackState
    /// The position that is heard, in seconds; nil while none is known.
    package var position: Double?
    /// The stream that is or will be heard, and the position of its first frame in seconds.
    package var stream: UInt64?
    package var streamStart: Double?
    /// Whether the content service streams the current item.
    package var isStreamed: Bool

    /// - Parameters:
    ///   - position: the position that is heard.
    ///   - stream: the stream that is or will be heard.
    ///   - streamStart: the position of its first frame.
    ///   - isStreamed: whether the content service streams the current item.
    package init(
        _ machine: PlaybackStateMachine, position: Double?, stream: UInt64?, streamStart: Double?, isStreamed: Bool
    ) {
        self.isStreamed = isStreamed
        self.stream = stream
        self.streamStart = streamStart
        current = machine.currentItem
        isSounding = machine.isSounding
        wantsToPlay = machine.wantsToPlay
        state = machine.playbackState
        self.position = position
    }
}
