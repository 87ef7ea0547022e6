import CALSA
import CLinux

/// The open mixer of a card (`snd_mixer_t`). It cannot be copied, and its `deinit` closes the mixer.
struct MixerHandle: ~Copyable {
    private let raw: OpaquePointer

    /// - Parameter card: its id or its index.
    static func open(card: String, configuration: ALSAConfiguration) throws(ALSAFailure) -> MixerHandle {
        // Opens the mixer through the control and not by the card's name, because alsa-lib finds names only in files.
        try MixerHandle(adopting: try CardControl.open(card: card, configuration: configuration))
    }

    /// Takes ownership of an open control interface (`snd_ctl_t`).
    init(adopting control: OpaquePointer) throws(ALSAFailure) {
        self = try Self.over(control)
    }

    private static func over(_ control: OpaquePointer) throws(ALSAFailure) -> MixerHandle {
        let mixer = try MixerHandle()
        var controls: OpaquePointer?
        try ALSAFailure.check(snd_hctl_open_ctl(&controls, control))
        try ALSAFailure.check(snd_mixer_attach_hctl(mixer.raw, controls))
        try ALSAFailure.check(snd_mixer_selem_register(mixer.raw, nil, nil))
        try ALSAFailure.check(snd_mixer_load(mixer.raw))
        return mixer
    }

    private init() throws(ALSAFailure) {
        var mixer: OpaquePointer?
        try ALSAFailure.check(snd_mixer_open(&mixer, 0))
        guard let mixer else { throw ALSAFailure(code: -ENOMEM) }
        raw = mixer
    }

    deinit { snd_mixer_close(raw) }

    static func controls(card: String, configuration: ALSAConfiguration) -> [MixerControl] {
        guard let mixer = try? open(card: card, configuration: configuration) else { return [] }
        return mixer.controls()
    }

    /// The controls that act on playback, in the card's order.
    func controls() -> [MixerControl] {
        var controls: [MixerControl] = []
        var element = snd_mixer_first_elem(raw)
        while let current = element {
            element = snd_mixer_elem_next(current)
            let hasVolume = snd_mixer_selem_has_playback_volume(current) != 0
            let hasSwitch = snd_mixer_selem_has_playback_switch(current) != 0
            guard hasVolume || hasSwitch, snd_mixer_selem_is_active(current) != 0 else { continue }
            var (least, most) = (0, 0)
            var (first, last) = (0, 0)
            let isStepped =
                hasVolume && snd_mixer_selem_get_playback_volume_range(current, &first, &last) == 0 && first < last
            let isDecibels =
                isStepped && snd_mixer_selem_get_playback_dB_range(current, &least, &most) == 0 && least < most
            controls.append(
                MixerControl(
                    name: String(cString: snd_mixer_selem_get_name(current)),
                    index: Int(snd_mixer_selem_get_index(current)), decibelRange: isDecibels ? least...most : nil,
                    stepRange: isStepped ? first...last : nil,
                    hasSwitch: hasSwitch))
        }
        return controls
    }

    /// The element of `control`, valid while the card is there and the handle is open.
    func element(of control: MixerControl) throws(ALSAFailure) -> OpaquePointer {
        var identity: OpaquePointer?
        try ALSAFailure.check(snd_mixer_selem_id_malloc(&identity))
        defer { snd_mixer_selem_id_free(identity) }
        snd_mixer_selem_id_set_name(identity, control.name)
        snd_mixer_selem_id_set_index(identity, UInt32(control.index))
        guard let element = snd_mixer_find_selem(raw, identity) else { throw ALSAFailure(code: -ENOENT) }
        return element
    }

    /// Reads changes from outside: volumes that others set, and whether the card was unplugged.
    func refresh() throws(ALSAFailure) {
        try ALSAFailure.check(snd_mixer_handle_events(raw))
    }
}
