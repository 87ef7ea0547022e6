/// The mixer of the profile's sound card, as far as the check needs it.
public enum CardMixer: Equatable, Sendable {
    /// Its playback controls. `chosen` is the control that the player uses when the profile names none; nil: the volume
    /// is set in software.
    case controls([Control], chosen: String?)
    /// Why it cannot be opened, for the user.
    case unusable(String)

    public struct Control: Equatable, Sendable {
        /// The driver's name of the control: `Digital`.
        public var name: String
        /// The range in hundredths of a decibel; nil without a volume or without a decibel scale.
        public var range: ClosedRange<Int>?

        /// Whether it has a volume, in decibels or not.
        public var hasVolume: Bool

        public init(name: String, range: ClosedRange<Int>?, hasVolume: Bool = false) {
            self.hasVolume = hasVolume || range != nil
            self.name = name
            self.range = range
        }
    }
}
