/// A control of a card's mixer that acts on playback.
public struct MixerControl: Equatable, Sendable {
    /// The driver's name for it: `Digital`, `PCM`, `Master`.
    public var name: String
    /// Distinguishes controls with the same name; usually 0.
    public var index: Int
    /// The range of its volume, in hundredths of a decibel; nil without a volume or without a decibel scale.
    public var decibelRange: ClosedRange<Int>?
    /// The steps of its volume, in the card's numbers; nil without a volume.
    public var stepRange: ClosedRange<Int>?
    /// Whether it can be muted.
    public var hasSwitch: Bool

    public init(
        name: String, index: Int = 0, decibelRange: ClosedRange<Int>? = nil, stepRange: ClosedRange<Int>? = nil,
        hasSwitch: Bool = false
    ) {
        self.name = name
        self.index = index
        self.decibelRange = decibelRange
        self.stepRange = stepRange
        self.hasSwitch = hasSwitch
    }

    /// The controls of a card that act on playback, in the card's order.
    ///
    /// Thread: any, but not the audio thread.
    /// - Parameter card: its id or its index.
    /// - Throws: `.absent`, `.noPermission`, `.refused` when the card's mixer cannot be opened.
    public static func all(
        card: String, configuration: ALSAConfiguration = .available
    ) throws(DeviceError) -> [MixerControl] {
        do throws(ALSAFailure) {
            return try MixerHandle.open(card: card, configuration: configuration).controls()
        } catch {
            throw DeviceError(opening: DeviceName.card(card), failure: error, configuration: configuration)
        }
    }

    /// Names of the control for the volume of all outputs, the best first: the digital volume of a DAC chip, that of an
    /// on-board codec, of a USB DAC, and those of the outputs themselves.
    static let preferredNames = ["Digital", "Master", "PCM", "DAC", "Playback", "Headphone", "Speaker", "Line Out"]

    /// The control that sets the volume: the named one, or the preferred one, or the only one. A control with a decibel
    /// scale is preferred.
    /// - Returns: nil when no control has a volume; the volume is set in software then.
    public static func choose(among controls: [MixerControl], named name: String? = nil) -> MixerControl? {
        let inDecibels = controls.filter { $0.decibelRange != nil }
        let inSteps = controls.filter { $0.decibelRange == nil && $0.stepRange != nil }
        return choose(inDecibels, named: name) ?? choose(inSteps, named: name)
    }

    private static func choose(_ usable: [MixerControl], named name: String?) -> MixerControl? {
        func first(_ name: String) -> MixerControl? {
            usable.first { $0.name.utf8.elementsEqual(name.utf8) }
        }
        if let name { return first(name) }
        for name in preferredNames {
            if let control = first(name) { return control }
        }
        return usable.count == 1 ? usable[0] : nil
    }
}
