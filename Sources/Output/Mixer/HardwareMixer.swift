import CALSA

/// The volume of a card, in its own hardware.
///
/// Thread: one at a time; not the audio thread. A card that is pulled out makes the calls throw; a new mixer is opened
/// once it is back.
public final class HardwareMixer {
    /// What the volume is set with. It has a decibel scale.
    public let control: MixerControl
    /// What a percentage means on it.
    public let scale: VolumeScale

    private let card: String
    private let configuration: ALSAConfiguration
    private let mixer: MixerHandle

    /// Opens the mixer of the card that `device` names (`hw:CARD=DAC,DEV=0`).
    /// - Parameters:
    ///   - controlName: the control to take; nil chooses as `MixerControl.choose` does.
    ///   - limits: the part of the control's range to use, in hundredths of a decibel; nil for all of it.
    /// - Returns: nil when the device has no card, the card has no such control or that has no decibel scale: the
    ///   volume is software then.
    /// - Throws: `.absent`, `.noPermission`, `.refused` when the card's mixer cannot be opened.
    public static func open(
        device: String, controlName: String? = nil, limits: ClosedRange<Int>? = nil,
        configuration: ALSAConfiguration = .available
    ) throws(DeviceError) -> HardwareMixer? {
        let device = try DeviceName.resolved(device, configuration: configuration)
        guard let card = DeviceName.cardReference(of: device) else { return nil }
        do throws(ALSAFailure) {
            let mixer = try MixerHandle.open(card: card, configuration: configuration)
            guard let control = MixerControl.choose(among: mixer.controls(), named: controlName),
                let range = control.decibelRange
            else { return nil }
            let scale = VolumeScale(range: limits.map { range.clamped(to: $0) } ?? range)
            return HardwareMixer(mixer, control: control, scale: scale, card: card, configuration: configuration)
        } catch {
            throw DeviceError(opening: device, failure: error, configuration: configuration)
        }
    }

    private init(
        _ mixer: consuming MixerHandle, control: MixerControl, scale: VolumeScale, card: String,
        configuration: ALSAConfiguration
    ) {
        self.mixer = mixer
        self.control = control
        self.scale = scale
        self.card = card
        self.configuration = configuration
    }

    /// The volume of the card's first channel, in hundredths of a decibel.
    /// - Throws: `.absent` when the card is gone, `.refused`.
    public func decibels() throws(DeviceError) -> Int {
        try calling { mixer, element throws(ALSAFailure) in
            try mixer.refresh()
            var value = 0
            let channel = SND_MIXER_SCHN_FRONT_LEFT
            try ALSAFailure.check(snd_mixer_selem_get_playback_dB(element, channel, &value))
            return value
        }
    }

    /// Sets all channels, in hundredths of a decibel, to the nearest step that is not louder.
    /// - Throws: as `decibels`.
    public func setDecibels(_ value: Int) throws(DeviceError) {
        try calling { _, element throws(ALSAFailure) in
            try ALSAFailure.check(snd_mixer_selem_set_playback_dB_all(element, value, -1))
        }
    }

    /// Sets all channels by `scale`; 0 mutes as well where the card can.
    /// - Throws: as `decibels`.
    public func setVolume(percent: Int) throws(DeviceError) {
        try setDecibels(scale.decibels(percent: percent))
        if control.hasSwitch { try setMuted(percent <= 0) }
    }

    /// Without effect where `control.hasSwitch` is false.
    /// - Throws: as `decibels`.
    public func setMuted(_ isMuted: Bool) throws(DeviceError) {
        guard control.hasSwitch else { return }
        try calling { _, element throws(ALSAFailure) in
            try ALSAFailure.check(snd_mixer_selem_set_playback_switch_all(element, isMuted ? 0 : 1))
        }
    }

    private func calling<Result>(
        _ call: (borrowing MixerHandle, OpaquePointer) throws(ALSAFailure) -> Result
    ) throws(DeviceError) -> Result {
        do throws(ALSAFailure) {
            // Looked up each time: alsa-lib removes the elements of a card that is gone.
            return try call(mixer, try mixer.element(of: control))
        } catch {
            throw DeviceError(opening: DeviceName.card(card), failure: error, configuration: configuration)
        }
    }
}
