/// The mixer of the sound card that a profile names, as far as the check needs it.
public enum CardMixer: Equatable, Sendable {
    /// Its playback controls, and the name of the one that the player uses when the profile names none; nil: the volume
    /// is set in software.
    case controls([Control], chosen: String?)
    /// Why it cannot be opened, for a person.
    case unusable(String)

    public struct Control: Equatable, Sendable {
        /// The driver's name for it: `Digital`.
        public var name: String
        /// In hundredths of a decibel; nil without a volume or without a decibel scale.
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
