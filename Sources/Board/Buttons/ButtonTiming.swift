/// The times that turn a contact's edges into gestures, in milliseconds.
public struct ButtonTiming: Equatable, Sendable {
    /// A contact that is quiet for this long has stopped bouncing.
    public var debounce: Int
    /// A press this long is a long press.
    public var longPress: Int
    /// A second press within this time after a release makes a double press.
    public var doublePress: Int
    /// A held button starts to repeat after this time.
    public var repeatDelay: Int
    /// The time between two repetitions.
    public var repeatInterval: Int
    /// A button held for this long is stuck.
    public var stuck: Int

    public init(
        debounce: Int = 20, longPress: Int = 800, doublePress: Int = 300, repeatDelay: Int = 500,
        repeatInterval: Int = 150, stuck: Int = 30_000
    ) {
        self.debounce = debounce
        self.longPress = longPress
        self.doublePress = doublePress
        self.repeatDelay = repeatDelay
        self.repeatInterval = repeatInterval
        self.stuck = stuck
    }
}
