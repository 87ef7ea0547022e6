/// The mixer of the sound card that a profile names, as far as a check looks at it.
public enum CardMixer: Equatable, Sendable {
    /// Its controls that act on playback, and the name of the one that the player takes when the profile names none;
    /// nil where the volume would be software then.
    case controls([Control], chosen: String?)
    /// Why it cannot be looked at, for a person.
    case unusable(String)

    public struct Control: Equatable, Sendable {
        /// As the driver calls it: `Digital`.
        public var name: String
        /// In hundredths of a decibel; nil where it has no volume or no decibel scale.
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
