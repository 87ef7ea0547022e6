import Platform

/// The program that uses a playback device.
public struct DeviceOwner: Equatable, Sendable {
    /// Its name; nil where the kernel does not say it.
    private var name: String?
    private var process = 0

    /// - Parameter processes: the folder where the kernel describes processes and cards.
    public init(of device: Int, ofCard card: Int, processes: String = "/proc") {
        let path = "\(processes)/asound/card\(card)/pcm\(device)p/sub0/status"
        guard let status = try? File.contents(of: path, limit: 4096) else { return }
        for line in status.split(separator: UInt8(ascii: "\n")) where line.starts(with: "owner_pid".utf8) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
            let digits = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
            guard let id = Int(String(decoding: digits, as: UTF8.self)) else { return }
            guard let comm = try? File.contents(of: "\(processes)/\(id)/comm", limit: 64) else { return }
            name = String(decoding: comm.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            process = id
        }
    }

    /// The program that uses the device and the remedy, for users.
    public var text: String {
        guard let name else { return "another program" }
        let program = "\(VisibleText.visible(name)) (process \(process))"
        switch name {
        case "pipewire", "wireplumber":
            return "\(program). To give the card to the player: "
                + "systemctl --user disable --now pipewire.socket pipewire pipewire-pulse.socket wireplumber"
        case "pulseaudio":
            return "\(program). To give the card to the player: "
                + "systemctl --user disable --now pulseaudio.socket pulseaudio"
        default: return program
        }
    }
}
