import CALSA
import CLinux
import PCM
import Platform

/// The control of a card for the channel status (`IEC958 Playback Default`), which some drivers use besides that in the
/// subframes.
enum ChannelStatusControl {
    private static let name = "IEC958 Playback Default"

    /// Sets the channel status for the open device `handle`. A card without the control needs none. Any other failure
    /// is logged.
    static func set(_ status: ChannelStatus, for handle: borrowing PCMHandle, configuration: ALSAConfiguration) {
        do throws(ALSAFailure) {
            var info: OpaquePointer?
            try ALSAFailure.check(snd_pcm_info_malloc(&info))
            defer { snd_pcm_info_free(info) }
            try ALSAFailure.check(snd_pcm_info(handle.raw, info))
            let card = snd_pcm_info_get_card(info)
            // A plug-in has no card.
            guard card >= 0 else { return }
            let control = try CardControl(card: "\(card)", configuration: configuration)
            try set(
                status, device: snd_pcm_info_get_device(info), subdevice: snd_pcm_info_get_subdevice(info), on: control)
        } catch {
            if error.code != -ENOENT { Log.warning("\(name): \(error.reason)") }
        }
    }

    static func set(
        _ status: ChannelStatus, device: UInt32, subdevice: UInt32, on control: borrowing CardControl
    ) throws(ALSAFailure) {
        var value: OpaquePointer?
        try ALSAFailure.check(snd_ctl_elem_value_malloc(&value))
        defer { snd_ctl_elem_value_free(value) }
        snd_ctl_elem_value_set_interface(value, SND_CTL_ELEM_IFACE_PCM)
        snd_ctl_elem_value_set_name(value, name)
        snd_ctl_elem_value_set_device(value, device)
        snd_ctl_elem_value_set_subdevice(value, subdevice)
        var content = snd_aes_iec958_t()
        withUnsafeMutableBytes(of: &content.status) { bytes in
            for index in 0..<ChannelStatus.byteCount { bytes[index] = status.byte(index) }
        }
        snd_ctl_elem_value_set_iec958(value, &content)
        try ALSAFailure.check(snd_ctl_elem_write(control.raw, value))
    }
}
