import Events
import Network
import PCM
import Platform
import Player

// The settings as the types that the parts of the daemon use.

extension Configuration {
    private func text(_ name: SettingName) -> String {
        guard case .text(let value) = self[name] else { preconditionFailure("\(name.setting.title) is no text") }
        return value
    }

    private func number(_ name: SettingName) -> Int {
        switch self[name] {
        case .integer(let value), .duration(let value), .percent(let value), .decibels(let value),
            .megabytes(let value):
            return value
        default: preconditionFailure("\(name.setting.title) is no number")
        }
    }

    /// The meanings of the words of a choice, in the same order.
    package func choice<Meaning>(_ name: SettingName, of meanings: [Meaning]) -> Meaning {
        let word = text(name)
        guard case .choice(let words) = name.setting.type, words.count == meanings.count,
            let index = words.firstIndex(where: { $0.utf8.elementsEqual(word.utf8) })
        else { preconditionFailure("\(name.setting.title) is another choice") }
        return meanings[index]
    }

    /// Returns the text, or nil when it is `word`, which means none or an automatic choice.
    private func text(_ name: SettingName, unless word: String) -> String? {
        let value = text(name)
        return value.utf8.elementsEqual(word.utf8) ? nil : value
    }

    /// The device; nil: the board profile decides, else the best card (`OutputKind`).
    public var device: String? { text(.device, unless: "auto") }
    /// The sample format; nil: the widest format of the device.
    public var sampleFormat: SampleFormat? {
        choice(.sampleFormat, of: [nil, .s32, .s24, .s24Packed, .s16, .iec958Subframe])
    }
    public var bufferMilliseconds: Int { number(.buffer) }
    public var periodCount: Int { number(.periods) }
    /// The mixer control; nil: the board profile or the card decides.
    public var mixerControl: String? { text(.mixerControl, unless: "auto") }
    public var forcesSoftwareVolume: Bool { text(.volumeRoute, unless: "auto") != nil }
    public var maximumVolume: Volume { Volume(percent: number(.maximumVolume)) }
    /// The volume that is used while none is known.
    public var firstVolume: Volume { Volume(decibels: Double(number(.firstVolume))) }
    /// Whether interrupted music fades out, and music after a silence fades in.
    public var usesFades: Bool { choice(.fades, of: [true, false]) }
    /// Whether music is adapted to the channels of the card.
    public var adaptsToDevice: Bool { choice(.adaptation, of: [true, false]) }
    /// The channel of the music that each channel of the card plays.
    public var channelRouting: ChannelRouting { choice(.channels, of: [.straight, .swapped, .mono, .left, .right]) }
    /// The rate at which music is played if the card does not have its own rate.
    public var sampleRates: SampleRateRule {
        func limit(_ setting: SettingName) -> Int? { number(setting) == 0 ? nil : number(setting) }
        return SampleRateRule(
            quality: choice(.resampling, of: [.veryHigh, .high, nil]), fixed: limit(.rate),
            highest: limit(.highestRate))
    }
    /// Whether DSD is sent as DSD over PCM.
    public var sendsDSD: Bool { choice(.dsd, of: [false, true]) }
    /// The priority of the audio thread; nil for normal scheduling.
    public var realtimePriority: Int? { number(.realtimePriority) == 0 ? nil : number(.realtimePriority) }

    public var normalization: LoudnessNormalizationMode { choice(.normalization, of: [.off, .track, .album]) }
    /// The pre-amplification in dB.
    public var preAmp: Int { number(.preAmp) }
    /// The gain of files whose loudness is not known, in dB.
    public var untaggedGain: Int { number(.untaggedGain) }

    public var resume: ResumePolicy { choice(.resume, of: [.playing, .paused, .empty]) }
    public var stateFolder: String { text(.state) }
    /// The path of the control socket; nil for no socket.
    public var socketPath: String? { text(.socket, unless: "none") }
    public var socketMode: UInt32 {
        guard case .permissions(let mode) = self[.socketMode] else { preconditionFailure("no permissions") }
        return mode
    }
    public var socketGroup: String { text(.socketGroup) }
    public var clientLimit: Int { number(.clients) }
    /// Whether the values of clients override those of the file.
    var usesClientSettings: Bool { choice(.clientSettings, of: [true, false]) }
    /// The folder with the system's problems and its report; nil without one.
    var systemFolder: String? { text(.systemFolder, unless: "none") }
    /// The path of the board profile; nil without one.
    public var boardProfile: String? { text(.profile, unless: "none") }
    /// The name of the DAC on the header; nil without one.
    public var headerDAC: String? { text(.dac, unless: "none") }
    /// The path of the table of DACs; nil without one.
    public var dacTable: String? { text(.dacTable, unless: "none") }
    /// The shell command line of the command; `none` for nothing.
    public func commandLine(of command: SystemCommand) -> String {
        switch command {
        case .restart: text(.restart)
        case .powerOff: text(.powerOff)
        case .networkRestart: text(.networkRestart)
        case .update: text(.updateCommand)
        }
    }

    /// The address of the content service; nil without one.
    var serviceURL: String? { text(.serviceURL, unless: "none") }
    var serviceClient: String { text(.serviceClient) }
    var serviceTokenFile: String? { text(.serviceTokenFile, unless: "none") }
    var authorities: String? { text(.authorities, unless: "none") }
    var pins: [HostPin] { text(.pins, unless: "none").flatMap { HostPin.list($0) } ?? [] }
    var proxy: String? { text(.proxy, unless: "none") }
    var readAheadBytes: Int { number(.readAhead) << 20 }
    package var cacheFolder: String { text(.cacheFolder, unless: "auto") ?? "\(stateFolder)/cache" }
    /// The size of the cache in bytes; 0 for no cache.
    var cacheBytes: Int64 { Int64(number(.cacheSize)) << 20 }
    /// The folder of the system's part of Wi-Fi; nil where requests do not change it.
    package var wifiFolder: String? { text(.wifiFolder, unless: "none") }
    var wifiQuality: AudioQuality { choice(.wifiQuality, of: [.low, .high, .lossless, .hiResLossless]) }
    var cellularQuality: AudioQuality { choice(.cellularQuality, of: [.low, .high, .lossless, .hiResLossless]) }
    /// Whether the player is in offline mode.
    public var isOfflineOnly: Bool { choice(.offlineOnly, of: [true, false]) }
    var offlineQuality: AudioQuality { choice(.offlineQuality, of: [.low, .high, .lossless, .hiResLossless]) }
    var offlineVideoQuality: VideoQuality { choice(.offlineVideoQuality, of: [.low, .medium, .high]) }
    var offlineOverCellular: Bool { choice(.offlineOverCellular, of: [true, false]) }
    var downloadsPlayed: Bool { choice(.offlineDownloadPlayed, of: [true, false]) }
    var offlineFolder: String { text(.offlineFolder, unless: "auto") ?? "\(stateFolder)/offline" }
    /// The budget of offline copies in bytes; nil: the whole medium.
    var offlineBytes: Int64? { number(.offlineSize) == 0 ? nil : Int64(number(.offlineSize)) << 20 }
    var offlineFreeBytes: Int64 { Int64(number(.offlineFreeSpace)) << 20 }
    var offlineDownloads: Int { number(.offlineDownloads) }

    private var reportsPlays: Bool { choice(.eventsPlayLog, of: [true, false]) }
    private var reportsStatistics: Bool { choice(.eventsStatistics, of: [true, false]) }
    /// The categories of events that the service may learn.
    var eventConsent: Set<EventCategory> {
        Set((reportsPlays ? [.playLog] : []) + (reportsStatistics ? [.statistics] : []))
    }
    var eventBytes: Int64 { Int64(number(.eventsSize)) * 1_000_000 }

    /// The music folders of the library, without slashes at their ends; empty for no library.
    package var libraryFolders: [String] {
        guard let paths = text(.libraryFolders, unless: "none") else { return [] }
        return paths.utf8.split(separator: UInt8(ascii: ":")).map { path in
            let bytes = Array(path)
            let end = bytes.lastIndex { $0 != UInt8(ascii: "/") } ?? 0
            return String(decoding: bytes[...end], as: UTF8.self)
        }
    }

    /// The folder of the stored playlists.
    package var playlistFolder: String { text(.libraryPlaylists, unless: "auto") ?? "\(stateFolder)/playlists" }

    /// The address at which clients of MPD connect, `any` for all; nil for none.
    package var mpdAddress: String? { text(.mpdAddress, unless: "none") }
    package var mpdPort: UInt16 { UInt16(clamping: number(.mpdPort)) }
    package var mpdSocketPath: String? { text(.mpdSocket, unless: "none") }
    package var mpdAcceptsAll: Bool { choice(.mpdClients, of: [false, true]) }
    package var mpdPasswordFile: String? { text(.mpdPasswords, unless: "none") }

    /// The address at which browsers connect, `any` for all; nil for none.
    package var webAddress: String? { text(.webAddress, unless: "none") }
    package var webPort: Int { number(.webPort) }
    package var webAcceptsAll: Bool { choice(.webClients, of: [false, true]) }
    /// In lower case.
    package var webNames: [String] {
        guard let names = text(.webNames, unless: "none") else { return [] }
        return names.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
            .map { name in String(decoding: name.map { $0.lowercased }, as: UTF8.self) }
    }
    package var webPasswordFile: String? { text(.webPasswordFile, unless: "none") }
    /// Whether clients without a login may use the music alone.
    package var webLimitsGuests: Bool { choice(.webGuests, of: [false, true]) }
    /// The files of the certificate and of its key.
    package var webCertificate: String? { text(.webCertificate, unless: "none") }
    package var webKey: String? { text(.webKey, unless: "none") }
    /// The most bytes of thumbnails: a part of the cache, at most half of it.
    package var thumbnailBytes: Int64 { min(Int64(number(.webThumbnails)) * 1_000_000, cacheBytes / 2) }
    package var webFolder: String { text(.webFolder, unless: "none") ?? "/" }

    /// Whether the servers are announced: always, never, or where no other program of this machine does so.
    package var announcement: AnnouncementRule { choice(.discoveryAnnounce, of: [.unlessAvahiRuns, .always, .never]) }
    /// The name that other machines show; nil: the name of this machine.
    package var announcedName: String? { text(.discoveryName, unless: "auto") }

    /// The folder of the system's part of updates; nil where requests do not install them.
    var updateFolder: String? { text(.updateFolder, unless: "none") }
    /// The address that is used by a request for an update without an address.
    var updateAddress: UpdateAddress? { text(.updateAddress, unless: "none").flatMap { UpdateAddress($0) } }

    public var logLevel: Log.Level { choice(.logLevel, of: [.error, .warning, .notice, .info, .debug]) }
}
