import CALSA
import CLinux

/// The open control interface of a card (`snd_ctl_t`).
struct CardControl: ~Copyable {
    struct Identity {
        var index: Int
        var id: String
        var name: String
        /// The name of its driver.
        var driver: String
    }

    let raw: OpaquePointer

    /// - Parameter card: its id or its index.
    init(card: String, configuration: ALSAConfiguration) throws(ALSAFailure) {
        raw = try CardControl.open(card: card, configuration: configuration)
    }

    /// Takes ownership of an open control interface.
    init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { snd_ctl_close(raw) }

    /// Opens the control for callers that close it themselves.
    static func open(card: String, configuration: ALSAConfiguration) throws(ALSAFailure) -> OpaquePointer {
        tonearm_alsa_silence()
        let name = "hw:\(card)"
        var control: OpaquePointer?
        switch configuration {
        case .system:
            try ALSAFailure.check(snd_ctl_open(&control, name, SND_CTL_NONBLOCK))
        case .text(let text):
            let tree = try ConfigurationTree.parse(text)
            try ALSAFailure.check(snd_ctl_open_lconf(&control, name, SND_CTL_NONBLOCK, tree.raw))
        }
        guard let control else { throw ALSAFailure(code: -ENODEV) }
        return control
    }

    /// All cards that may be opened, by ascending index.
    static func all(configuration: ALSAConfiguration) -> [Identity] {
        var identities: [Identity] = []
        for index in numbers(snd_card_next) {
            do throws(ALSAFailure) {
                let control = try CardControl(card: "\(index)", configuration: configuration)
                identities.append(try control.identity(index: Int(index)))
            } catch {
                // Skips a card that was unplugged between two calls.
                continue
            }
        }
        return identities
    }

    /// The numbers of an enumerator of alsa-lib. Each call returns the next number; after the last one it returns −1,
    /// and would then start over.
    static func numbers(_ moveOn: (UnsafeMutablePointer<Int32>) -> Int32) -> [Int32] {
        var numbers: [Int32] = []
        var number: Int32 = -1
        while moveOn(&number) == 0, number >= 0 { numbers.append(number) }
        return numbers
    }

    private func identity(index: Int) throws(ALSAFailure) -> Identity {
        var info: OpaquePointer?
        try ALSAFailure.check(snd_ctl_card_info_malloc(&info))
        defer { snd_ctl_card_info_free(info) }
        try ALSAFailure.check(snd_ctl_card_info(raw, info))
        return Identity(
            index: index, id: String(cString: snd_ctl_card_info_get_id(info)),
            name: String(cString: snd_ctl_card_info_get_name(info)),
            driver: String(cString: snd_ctl_card_info_get_driver(info)))
    }

    /// Number and name of every playback device, ascending.
    func playbackDevices() -> [(number: Int, name: String)] {
        var devices: [(number: Int, name: String)] = []
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0 else { return [] }
        defer { snd_pcm_info_free(info) }
        for number in CardControl.numbers({ snd_ctl_pcm_next_device(raw, $0) }) {
            snd_pcm_info_set_device(info, UInt32(number))
            snd_pcm_info_set_subdevice(info, 0)
            snd_pcm_info_set_stream(info, SND_PCM_STREAM_PLAYBACK)
            // A device that only records has no such stream.
            guard snd_ctl_pcm_info(raw, info) == 0 else { continue }
            devices.append((Int(number), String(cString: snd_pcm_info_get_name(info))))
        }
        return devices
    }
}
