import CALSA
import PCM

/// The volume of a card, in its hardware.
///
/// Thread: one at a time; not the audio thread. When the card is unplugged, the calls throw; open a new mixer when it
/// is back.
public final class HardwareMixer {
    /// The control that sets the volume.
    public let control: MixerControl
    /// How a volume maps to this control.
    public let scale: VolumeScale

    private let card: String
    private let configuration: ALSAConfiguration
    private let mixer: MixerHandle

    /// Opens the mixer of the card that `device` names (`hw:CARD=DAC,DEV=0`).
    /// - Parameters:
    ///   - controlName: the control to use; nil chooses as `MixerControl.choose` does.
    ///   - limits: the part of the control's range to use, in hundredths of a decibel; nil for all of it. Ignored for a
    ///     control without a decibel scale.
    /// - Returns: nil when the device has no card or the card has no such control: the volume is set in software then.
    /// - Throws: `.absent`, `.noPermission`, `.refused` when the card's mixer cannot be opened.
    public static func open(
        device: String, controlName: String? = nil, limits: ClosedRange<Int>? = nil,
        configuration: ALSAConfiguration = .available
    ) throws(DeviceError) -> HardwareMixer? {
        let device = try DeviceName.resolved(device, configuration: configuration)
        guard let card = DeviceName.cardReference(of: device) else { return nil }
        do throws(ALSAFailure) {
            let mixer = try MixerHandle.open(card: card, configuration: configuration)
            return HardwareMixer(
                mixer, controlName: controlName, limits: limits, card: card, configuration: configuration)
        } catch {
            throw DeviceError(opening: device, failure: error, configuration: configuration)
        }
    }

    /// Returns nil when the mixer has no such control.
    init?(
        _ mixer: consuming MixerHandle, controlName: String? = nil, limits: ClosedRange<Int>? = nil, card: String,
        configuration: ALSAConfiguration
    ) {
        guard let control = MixerControl.choose(among: mixer.controls(), named: controlName) else { return nil }
        if let range = control.decibelRange {
            scale = VolumeScale(decibels: limits.map { range.clamped(to: $0) } ?? range)
        } else if let range = control.stepRange {
            scale = VolumeScale(steps: range)
        } else {
            return nil
        }
        self.mixer = mixer
        self.control = control
        self.card = card
        self.configuration = configuration
    }

    /// The setting of the card: that of its loudest channel, rounded down to a volume. 0 for a muted card. Changes
    /// nothing.
    /// - Throws: `.absent` when the card is gone, `.refused`.
    public func volume() throws(DeviceError) -> Volume {
        let (hasSwitch, scale) = (control.hasSwitch, scale)
        return try calling { mixer, element throws(ALSAFailure) in
            try mixer.refresh()
            if hasSwitch, !(try Self.isOn(element)) { return .muted }
            return scale.volume(at: try Self.settings(of: element, scale.unit).max() ?? scale.range.lowerBound)
        }
    }

    /// The volume that `volume` returns after `setVolume(percent:)`. It differs from `percent` when the card does not
    /// have that setting. Changes nothing.
    /// - Throws: as `volume`.
    public func reading(afterSetting percent: Int) throws(DeviceError) -> Volume {
        let (volume, scale) = (Volume(percent: percent), scale)
        if control.hasSwitch, volume == .muted { return .muted }
        return try calling { _, element throws(ALSAFailure) in
            scale.volume(at: try Self.choose(volume, on: element, scale).setting)
        }
    }

    /// Sets all channels to the loudest setting of the card that is not louder than `percent`. When the card does not
    /// go as low, or has only coarse steps, the samples have to be scaled too. 0 also mutes the card if it can, and is
    /// silence in the samples in any case.
    /// - Returns: the remaining factor for the samples.
    /// - Throws: as `volume`.
    public func setVolume(percent: Int) throws(DeviceError) -> AppliedVolume {
        let (volume, scale) = (Volume(percent: percent), scale)
        let applied = try calling { mixer, element throws(ALSAFailure) in
            try mixer.refresh()
            let choice = try Self.choose(volume, on: element, scale)
            try ALSAFailure.check(snd_mixer_selem_set_playback_volume_all(element, choice.step))
            let softwareFactor = scale.softwareFactor(for: volume, at: choice.setting)
            return AppliedVolume(
                softwareFactor: softwareFactor, factor: softwareFactor * scale.factor(at: choice.setting))
        }
        if control.hasSwitch { try setMuted(volume == .muted) }
        return applied
    }

    /// Does nothing when `control.hasSwitch` is false.
    /// - Throws: as `volume`.
    public func setMuted(_ isMuted: Bool) throws(DeviceError) {
        guard control.hasSwitch else { return }
        try calling { _, element throws(ALSAFailure) in
            try ALSAFailure.check(snd_mixer_selem_set_playback_switch_all(element, isMuted ? 0 : 1))
        }
    }

    // MARK: The element

    /// The card's step for a volume, and its value on the scale.
    private static func choose(
        _ volume: Volume, on element: OpaquePointer, _ scale: VolumeScale
    ) throws(ALSAFailure) -> (step: Int, setting: Int) {
        let wanted = scale.setting(for: volume)
        guard scale.unit == .decibels else { return (wanted, wanted) }
        let softer = try step(of: element, nearest: wanted, direction: -1)
        guard scale.isTooSoft(softer.setting, for: volume) else { return softer }
        return try step(of: element, nearest: wanted, direction: 1)
    }

    private static func step(
        of element: OpaquePointer, nearest decibels: Int, direction: Int32
    ) throws(ALSAFailure) -> (step: Int, setting: Int) {
        var step = 0
        try ALSAFailure.check(snd_mixer_selem_ask_playback_dB_vol(element, decibels, direction, &step))
        var setting = 0
        try ALSAFailure.check(snd_mixer_selem_ask_playback_vol_dB(element, step, &setting))
        return (step, setting)
    }

    /// The settings of all channels.
    private static func settings(of element: OpaquePointer, _ unit: VolumeScale.Unit) throws(ALSAFailure) -> [Int] {
        var settings: [Int] = []
        for number in 0...Int32(SND_MIXER_SCHN_LAST.rawValue) {
            let channel = snd_mixer_selem_channel_id_t(number)
            guard snd_mixer_selem_has_playback_channel(element, channel) != 0 else { continue }
            var setting = 0
            switch unit {
            case .decibels: try ALSAFailure.check(snd_mixer_selem_get_playback_dB(element, channel, &setting))
            case .steps: try ALSAFailure.check(snd_mixer_selem_get_playback_volume(element, channel, &setting))
            }
            settings.append(setting)
        }
        return settings
    }

    /// Whether any channel is not muted.
    private static func isOn(_ element: OpaquePointer) throws(ALSAFailure) -> Bool {
        for number in 0...Int32(SND_MIXER_SCHN_LAST.rawValue) {
            let channel = snd_mixer_selem_channel_id_t(number)
            guard snd_mixer_selem_has_playback_channel(element, channel) != 0 else { continue }
            var isOn: Int32 = 0
            try ALSAFailure.check(snd_mixer_selem_get_playback_switch(element, channel, &isOn))
            if isOn != 0 { return true }
        }
        return false
    }

    private func calling<Result>(
        _ call: (borrowing MixerHandle, OpaquePointer) throws(ALSAFailure) -> Result
    ) throws(DeviceError) -> Result {
        do throws(ALSAFailure) {
            // The element is looked up each time, because alsa-lib removes the elements of a card that was unplugged.
            return try call(mixer, try mixer.element(of: control))
        } catch {
            throw DeviceError(opening: DeviceName.card(card), failure: error, configuration: configuration)
        }
    }
}
