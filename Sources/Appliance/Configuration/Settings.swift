/// Names a setting of the daemon.
public enum SettingName: Int, CaseIterable, Sendable {
    case device, sampleFormat, buffer, periods, mixerControl, volumeRoute, maximumVolume, firstVolume, realtimePriority
    case fades, adaptation, channels, resampling, rate, highestRate, dsd
    case normalization, preAmp, untaggedGain
    case resume, state
    case socket, socketMode, socketGroup, clients, clientSettings
    case profile, dac, dacTable, powerOff, restart, networkRestart, systemFolder
    case serviceURL, serviceClient, serviceTokenFile, wifiQuality, cellularQuality
    case authorities, pins, proxy, readAhead, cacheFolder, cacheSize, wifiFolder
    case offlineOnly, offlineQuality, offlineVideoQuality, offlineOverCellular, offlineDownloadPlayed, offlineFolder
    case offlineSize, offlineFreeSpace, offlineDownloads
    case eventsPlayLog, eventsStatistics, eventsSize
    case libraryFolders, libraryPlaylists
    case mpdAddress, mpdPort, mpdSocket, mpdClients, mpdPasswords, mpdPermission
    case webAddress, webPort, webClients, webNames, webPasswordFile, webGuests, webCertificate, webKey, webFolder
    case webThumbnails
    case discoveryAnnounce, discoveryName
    case updateFolder, updateCommand, updateAddress
    case logLevel

    /// The setting's row of the table.
    var setting: Setting { Setting.all[rawValue] }
}

/// A setting. Reading, checking, the default file and `config show` all use this description.
struct Setting: Sendable {
    let name: SettingName
    let section: String
    let key: String
    let type: SettingType
    /// The default, in the form of a configuration file.
    let standard: String
    /// Whether a reload applies it; otherwise it takes effect at the next start.
    let changesWhileRunning: Bool
    /// The text for the default file, in lines of up to 116 bytes.
    let comment: String

    init(
        _ name: SettingName, _ section: String, _ key: String, _ type: SettingType, _ standard: String,
        changesWhileRunning: Bool = false, _ comment: String
    ) {
        self.name = name
        self.section = section
        self.key = key
        self.type = type
        self.standard = standard
        self.changesWhileRunning = changesWhileRunning
        self.comment = comment
    }

    /// The sections in the order of the file, with their subjects.
    static let sections = [
        ("audio", "The sound card, and how loud it is."),
        ("player", "Resume and the state folder."),
        ("control", "The socket for `tonearm status` and other clients."),
        ("board", "The board: its profile and its system commands."),
        ("service", "The content service. Its products are added as tonearm:track/ID."),
        ("network", "How the content service is reached, and Wi-Fi."),
        ("offline", "Offline copies of products of the content service: they play without the network."),
        ("events", "What the content service learns about listening (docs/privacy.md)."),
        ("library", "The index of music on disks, for artists, albums and searches."),
        ("mpd", "The server for the clients of MPD (docs/mpd.md)."),
        ("web", "The web page and the HTTP interface (docs/web.md)."),
        ("discovery", "How other machines of the network find this one (docs/discovery.md)."),
        ("update", "Updates of a firmware image by requests. Packages are updated with apt."),
        ("log", "Messages to the journal."),
    ]

    /// All settings, in the order of `SettingName`, and of the file.
    static let all = ofSound + ofControl + ofService + ofServers

    /// `[section] key`, for messages.
    var title: String { "[\(section)] \(key)" }
}
