/// When a contact's edges become gestures. All times are in milliseconds.
public struct ButtonTiming: Equatable, Sendable {
    /// How long a contact is quiet when it has stopped bouncing.
    public var debounce: Int
    /// How long it is held for a long press.
    public var longPress: Int
    /// How long after a release a second press still makes a double press.
    public var doublePress: Int
    /// How long it is held before it repeats.
    public var repeatDelay: Int
    /// From one repetition to the next.
    public var repeatInterval: Int
    /// How long it is held until nobody can mean it any more.
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
