// Which settings the clients of the daemon can set.

extension Setting {
    /// Whether clients cannot set it, for one of three reasons. It is needed before the clients' settings are read. A
    /// mistake in it locks clients out, or makes the next start fail. It is a command that is run.
    private var isForFileOnly: Bool {
        switch name {
        case .state, .socket, .socketMode, .socketGroup, .clients, .profile, .powerOff, .restart, .networkRestart,
            .serviceURL, .serviceTokenFile, .authorities, .pins, .proxy, .cacheFolder, .wifiFolder, .offlineFolder,
            .libraryFolders, .libraryPlaylists, .mpdAddress, .mpdPort, .mpdSocket, .mpdClients, .mpdPasswords,
            .mpdPermission, .webAddress, .webPort, .webClients, .webNames, .webPasswordFile, .webCertificate, .webKey,
            .webFolder, .updateFolder, .updateCommand, .updateAddress:
            true
        default: false
        }
    }

    /// Returns why clients cannot set it to `text`, although the file can; nil when they can.
    func refusalForClients(of text: String) -> String? {
        if isForFileOnly { return "\(title) can only be set in the file" }
        // alsa-lib's other names include plug-ins that write files and run commands.
        if name == .device, !Self.isCard(text) {
            return "\(title): other devices than auto and hw:… can only be set in the file"
        }
        return nil
    }

    /// Whether a device's name means a card and nothing else.
    private static func isCard(_ text: String) -> Bool {
        if text.utf8.elementsEqual("auto".utf8) { return true }
        guard text.utf8.starts(with: "hw:".utf8) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"),
                UInt8(ascii: "="), UInt8(ascii: ","):
                true
            default: false
            }
        }
    }
}
