import CALSA
import CLinux
import Platform

/// The playback devices of this machine, with their kinds.
struct OutputSurvey {
    /// Where the kernel describes devices.
    var system = "/sys"
    var configuration: ALSAConfiguration

    /// The devices in the order of the cards. Opens no playback device.
    func candidates() -> [OutputCandidate] {
        CardControl.all(configuration: configuration).flatMap { card -> [OutputCandidate] in
            guard let control = try? CardControl(card: card.id, configuration: configuration) else { return [] }
            return control.playbackDevices().map { number, name in
                let facts = facts(of: card, number, name, control)
                return OutputCandidate(device: DeviceName.device(card.id, number), kind: OutputKind(facts))
            }
        }
    }

    /// The kind of a card's device.
    func kind(of card: CardControl.Identity, _ number: Int, _ name: String) -> OutputKind {
        guard let control = try? CardControl(card: card.id, configuration: configuration) else { return .other }
        return OutputKind(facts(of: card, number, name, control))
    }

    private func facts(
        of card: CardControl.Identity, _ number: Int, _ name: String, _ control: borrowing CardControl
    ) -> OutputKind.Facts {
        let bus = bus(ofCard: card.index)
        return OutputKind.Facts(
            driver: card.driver, isUSB: bus == "usb", isOfBoard: bus == "platform", deviceName: name,
            hasDisplay: control.hasDisplay(device: number) ?? isAnyDisplayConnected())
    }

    /// The kernel's bus of a card: `usb`, `platform`, `pci`…
    func bus(ofCard index: Int) -> String? {
        guard let folder = try? Folder.resolved("\(system)/class/sound/card\(index)/device/subsystem") else {
            return nil
        }
        return folder.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    }

    /// Returns whether a display is connected to a video output, for cards that do not report it; nil if the kernel
    /// does not report it either.
    func isAnyDisplayConnected() -> Bool? {
        let folder = "\(system)/class/drm"
        guard let entries = try? Folder.entries(of: folder) else { return nil }
        var isKnown = false
        for entry in entries {
            guard let status = try? File.contents(of: "\(folder)/\(entry.name)/status", limit: 64) else { continue }
            if status.starts(with: "connected".utf8) { return true }
            isKnown = true
        }
        return isKnown ? false : nil
    }
}

extension CardControl {
    /// Whether the display at an HDMI device has described itself (`ELD`); nil for a device without that control.
    func hasDisplay(device: Int) -> Bool? {
        var value: OpaquePointer?
        guard snd_ctl_elem_value_malloc(&value) == 0 else { return nil }
        defer { snd_ctl_elem_value_free(value) }
        snd_ctl_elem_value_set_interface(value, SND_CTL_ELEM_IFACE_PCM)
        snd_ctl_elem_value_set_name(value, "ELD")
        snd_ctl_elem_value_set_device(value, UInt32(device))
        guard snd_ctl_elem_read(raw, value) == 0 else { return nil }
        // Without a display the control has no bytes, or only zeros.
        return (0..<4).contains { snd_ctl_elem_value_get_byte(value, $0) != 0 }
    }
}
