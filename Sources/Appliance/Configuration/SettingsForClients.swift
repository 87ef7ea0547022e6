// Which settings the clients of the daemon can set.

/// The sources that can set a setting.
package enum SettingAccess: String {
    /// Only the file can set the setting, for one of three reasons. The setting is needed before the clients' settings
    /// are read. A mistake in it locks clients out, or makes the next start fail. The setting is a command that is run.
    case file
    /// Clients can set the setting too, but guests cannot. It concerns the machine, its storage, its name, or data that
    /// others receive.
    case clients
    /// Guests can set the setting too, because it concerns the music.
    case guests
}

extension Setting {
    var access: SettingAccess {
        switch name {
        case .state, .socket, .socketMode, .socketGroup, .clients, .profile, .dac, .dacTable, .powerOff, .restart,
            .networkRestart,
            .serviceURL, .serviceTokenFile, .authorities, .pins, .proxy, .cacheFolder, .wifiFolder, .offlineFolder,
            .libraryFolders, .libraryPlaylists, .mpdAddress, .mpdPort, .mpdSocket, .mpdClients, .mpdPasswords,
            .mpdPermission, .webAddress, .webPort, .webClients, .webNames, .webPasswordFile, .webGuests,
            .webCertificate, .webKey, .webFolder, .updateFolder, .updateCommand, .updateAddress, .systemFolder,
            .clientSettings:
            .file
        case .device, .sampleFormat, .buffer, .periods, .mixerControl, .volumeRoute, .realtimePriority, .rate,
            .highestRate, .dsd, .serviceClient, .readAhead, .cacheSize, .offlineSize, .offlineFreeSpace,
            .offlineDownloads, .eventsPlayLog, .eventsStatistics, .eventsSize, .webThumbnails, .discoveryAnnounce,
            .discoveryName, .logLevel:
            .clients
        case .maximumVolume, .firstVolume, .fades, .adaptation, .channels, .resampling, .normalization, .preAmp,
            .untaggedGain, .resume, .wifiQuality, .cellularQuality, .offlineOnly, .offlineQuality,
            .offlineVideoQuality, .offlineOverCellular, .offlineDownloadPlayed:
            .guests
        }
    }

    /// Returns why clients cannot set this setting to `text`, although the file can; nil when they can.
    func refusalForClients(of text: String) -> String? {
        if access == .file { return "\(title) can only be set in the file" }
        // alsa-lib's other names include plug-ins that write files and run commands.
        if name == .device, !Self.isCard(text) {
            return "\(title): other devices than auto and hw:… can only be set in the file"
        }
        return nil
    }

    /// The values of a limit that protects hearing or the bill of a network, the lowest first; nil for other settings.
    /// If the file sets such a limit, clients can only lower it.
    private var limits: [String]? {
        switch name {
        case .cellularQuality: ["low", "high", "lossless", "hi-res-lossless"]
        case .offlineOverCellular: ["no", "yes"]
        default: nil
        }
    }

    /// Whether `value` of a client is above the limit of the file.
    func exceeds(_ limit: SettingValue, _ value: SettingValue) -> Bool {
        switch (value, limit) {
        case (.percent(let value), .percent(let limit)): return name == .maximumVolume && value > limit
        case (.text(let value), .text(let limit)):
            guard let limits else { return false }
            func index(_ text: String) -> Int? { limits.firstIndex { $0.utf8.elementsEqual(text.utf8) } }
            return (index(value) ?? 0) > (index(limit) ?? 0)
        default: return false
        }
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
