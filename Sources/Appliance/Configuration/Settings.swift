/// Names a setting of the daemon.
public enum SettingName: Int, CaseIterable, Sendable {
    case device, sampleFormat, buffer, periods, mixerControl, volumeRoute, maximumVolume, firstVolume, realtimePriority
    case fades, adaptation, channels, resampling, rate, highestRate, dsd
    case normalization, preAmp, untaggedGain
    case resume, state
    case socket, socketMode, socketGroup, clients
    case profile, powerOff, restart, networkRestart
    case serviceURL, serviceClient, serviceTokenFile, wifiQuality, cellularQuality
    case authorities, pins, proxy, readAhead, cacheFolder, cacheSize, wifiFolder
    case offlineOnly, offlineQuality, offlineVideoQuality, offlineOverCellular, offlineKeepPlayed, offlineFolder
    case offlineSize, offlineFreeSpace, offlineDownloads
    case eventsPlayLog, eventsStatistics, eventsSize
    case libraryFolders, libraryPlaylists
    case mpdAddress, mpdPort, mpdSocket, mpdClients, mpdPasswords, mpdPermission
    case webAddress, webPort, webClients, webNames, webPasswordFile, webCertificate, webKey, webFolder
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
    /// The default, as a file writes it.
    let standard: String
    /// Whether a reload applies it; otherwise it takes effect at the next start.
    let changesWhileRunning: Bool
    /// The text for the default file, in lines of up to 116 bytes.
    let comment: String

    private init(
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
        ("offline", "Products of the content service that are kept: they play without the network."),
        ("events", "What the content service learns about listening (docs/privacy.md)."),
        ("library", "The index of music on disks, for artists, albums and searches."),
        ("mpd", "The server for the clients of MPD (docs/mpd.md)."),
        ("web", "The web page and the HTTP interface (docs/web.md)."),
        ("discovery", "How other machines of the network find this one (docs/discovery.md)."),
        ("update", "Updates of a firmware image by requests. Packages are updated with apt."),
        ("log", "Messages to the journal."),
    ]

    /// All settings, in the order of `SettingName`, and of the file.
    static let all = [
        Setting(
            .device, "audio", "device", .text, "auto",
            """
            The device: hw:CARD=id as `tonearm devices` lists it. With auto the board profile's card is taken,
            without a profile the first one that plays.
            """),
        Setting(
            .sampleFormat, "audio", "sample-format",
            .choice(["auto", "S32_LE", "S24_LE", "S24_3LE", "S16_LE", "IEC958_SUBFRAME_LE"]), "auto",
            """
            The sample format of the device. With auto it is the widest one that the device has.
            """),
        Setting(
            .buffer, "audio", "buffer", .duration(20...2000), "200 ms",
            """
            The length of the device's buffer. A longer one tolerates more load, a shorter one reacts to buttons sooner.
            """),
        Setting(
            .periods, "audio", "periods", .integer(2...16), "4",
            """
            The number of parts of the buffer. The buffer is refilled when half of it was played.
            """),
        Setting(
            .mixerControl, "audio", "mixer-control", .text, "auto",
            """
            The card's control for the volume. With auto it is the profile's, or the card's usual one.
            """),
        Setting(
            .volumeRoute, "audio", "volume-route", .choice(["auto", "software"]), "auto",
            """
            Where the volume is set. With auto it is the card's own control, if it has one, so that the samples
            do not change; software scales the samples and leaves the control alone.
            """),
        Setting(
            .maximumVolume, "audio", "maximum-volume", .percent(1...100), "100 %", changesWhileRunning: true,
            """
            The limit of the volume for buttons, knobs and clients.
            """),
        Setting(
            .firstVolume, "audio", "first-volume", .decibels(-60...0), "-30 dB",
            """
            The volume while none is known: at the very first start, or when the stored one was lost. A card whose own
            volume control somebody has set keeps that volume instead.
            """),
        Setting(
            .realtimePriority, "audio", "realtime-priority", .integer(0...99), "40",
            """
            The priority of the audio thread (SCHED_FIFO); 0 for normal scheduling. The unit file permits it.
            """),
        Setting(
            .fades, "audio", "fades", .choice(["on", "off"]), "on",
            """
            Whether pause, seek and skip fade out and in over 5 ms, so that nothing clicks. Boundaries between tracks
            are never faded.
            """),
        Setting(
            .adaptation, "audio", "adaptation", .choice(["on", "off"]), "on",
            """
            Music with a channel count that the card does not have: with on its channels are adapted to the card's, and
            the status says so; with off it is an error. Other music reaches the card unchanged either way.
            """),
        Setting(
            .channels, "audio", "channels", .choice(["stereo", "swapped", "mono", "left", "right"]), "stereo",
            """
            What the two front channels play: each its own side; swapped, for crossed cables; mono, the mean of both,
            for a single speaker; or one side on both, for two boards that are a pair.
            """),
        Setting(
            .resampling, "audio", "resampling", .choice(["very-high", "high", "off"]), "very-high",
            """
            Music with a sample rate that the card does not have: it is converted with this quality, and the status says
            so; with off it is an error. Other music reaches the card unchanged either way.
            """),
        Setting(
            .rate, "audio", "rate", .integer(0...768_000), "0",
            """
            Converts all music to this sample rate, in Hz, for a card that other programs use as well; 0 leaves each
            rate as it is.
            """),
        Setting(
            .highestRate, "audio", "highest-rate", .integer(0...768_000), "0",
            """
            Higher sample rates of the card are not used, in Hz: some converters claim more than they do; 0 for no
            limit.
            """),
        Setting(
            .dsd, "audio", "dsd", .choice(["pcm", "dop"]), "pcm",
            """
            How DSD (DSF, DFF) is played: decoded to PCM, or with dop bit for bit as DSD over PCM, where the card has
            24 bits and 176.4 kHz (twice that for DSD128). A card cannot say whether its converter understands that:
            one that does not plays it as noise. Neither the volume in software nor normalization apply to it.
            """),
        Setting(
            .normalization, "audio", "normalization", .choice(["off", "track", "album"]), "album",
            changesWhileRunning: true,
            """
            Brings all products to one loudness: each for itself (track), or albums as a whole, so that quiet movements
            stay quiet. With off and full volume every sample reaches the device as it was recorded.
            """),
        Setting(
            .preAmp, "audio", "pre-amp", .decibels(-30...30), "4 dB", changesWhileRunning: true,
            """
            Added to the loudness of normalized music.
            """),
        Setting(
            .untaggedGain, "audio", "untagged-gain", .decibels(-20...6), "0 dB", changesWhileRunning: true,
            """
            The gain of normalized files whose loudness is neither in their tags nor measured by `tonearm loudness`.
            A gain above 0 dB may clip loud music.
            """),
        Setting(
            .resume, "player", "resume", .choice(["playing", "paused", "empty"]), "playing",
            changesWhileRunning: true,
            """
            What a start does with the stored queue. playing resumes at the old position, if it was playing; paused
            waits there for a button; empty starts with an empty queue.
            """),
        Setting(
            .state, "player", "state", .path(orWord: nil), "/var/lib/tonearm",
            """
            The folder for the state that is kept across restarts: queue, position, volume. Two daemons cannot share it.
            """),
        Setting(
            .socket, "control", "socket", .path(orWord: "none", limit: SocketFile.lengthLimit),
            "/run/tonearm/control",
            """
            The path of the control socket; none turns it off.
            """),
        Setting(
            .socketMode, "control", "mode", .permissions, "0660",
            """
            The permissions of the socket, for the group below.
            """),
        Setting(
            .socketGroup, "control", "group", .text, "tonearm",
            """
            The group of the socket.
            """),
        Setting(
            .clients, "control", "clients", .integer(1...256), "32", changesWhileRunning: true,
            """
            How many clients may be connected at once, plus one for root.
            """),
        Setting(
            .profile, "board", "profile", .path(orWord: "none"), "none",
            """
            The board's profile, board.conf: its buttons, lights and relays, and its sound card.
            """),
        Setting(
            .powerOff, "board", "power-off", .text, "systemctl poweroff", changesWhileRunning: true,
            """
            The shell command for the action power-off of buttons and clients; none does nothing.
            """),
        Setting(
            .restart, "board", "restart", .text, "systemctl reboot", changesWhileRunning: true,
            """
            The shell command for the action restart of buttons and clients, which restarts the machine; none does
            nothing.
            """),
        Setting(
            .networkRestart, "board", "network-restart", .text, "systemctl restart systemd-networkd",
            changesWhileRunning: true,
            """
            The shell command for the action network-restart of buttons and clients; none does nothing.
            """),
        Setting(
            .serviceURL, "service", "url", .service, "none",
            """
            The address of the service, like https://nas.local:8443; none plays files alone. http is not encrypted.
            """),
        Setting(
            .serviceClient, "service", "client", .text, "tonearm",
            """
            The name of this kind of client, which some services ask for.
            """),
        Setting(
            .serviceTokenFile, "service", "token-file", .path(orWord: "none"), "none",
            """
            A file with the token that the service has given out, in its first line, in place of `tonearm login`. It
            should be readable by the daemon alone. It is read again when the service refuses the token.
            """),
        Setting(
            .wifiQuality, "service", "quality", .choice(["low", "high", "lossless", "hi-res-lossless"]), "lossless",
            changesWhileRunning: true,
            """
            The quality on Wi-Fi and Ethernet. The service may send another one; the status shows what came.
            """),
        Setting(
            .cellularQuality, "service", "quality-cellular", .choice(["low", "high", "lossless", "hi-res-lossless"]),
            "low", changesWhileRunning: true,
            """
            The quality on a cellular network.
            """),
        Setting(
            .authorities, "network", "ca-file", .path(orWord: "none"), "none",
            """
            Certificates (PEM) of authorities beside the system's: that of a service of one's own. Certificates are
            always verified.
            """),
        Setting(
            .pins, "network", "pins", .pins, "none",
            """
            Hosts whose certificate must have one of these keys, and be valid, too: HOST KEY KEY, HOST KEY. A key is
            the SHA-256 of the public key (DER) in base64; docs/service.md says how to get it.
            """),
        Setting(
            .proxy, "network", "proxy", .address(["http"]), "none",
            """
            A proxy, like http://proxy.local:3128.
            """),
        Setting(
            .readAhead, "network", "read-ahead", .integer(1...256), "16",
            """
            How many MiB of encoded audio are fetched ahead of what is decoded. They are held in memory.
            """),
        Setting(
            .cacheFolder, "network", "cache-folder", .path(orWord: "auto"), "auto",
            """
            Where answers and content of the service are kept, encrypted, for the next time. With auto it is the folder
            cache in the state folder. It must hold nothing else.
            """),
        Setting(
            .cacheSize, "network", "cache-size", .integer(0...65_536), "256",
            """
            How many MiB that folder may have; what was used least recently goes first. 128 MiB of its file system stay
            free. With 0 nothing is kept from now on, and what is there stays until the folder is removed.
            """),
        Setting(
            .wifiFolder, "network", "wifi-folder", .path(orWord: "none"), "none",
            """
            The folder in which the system takes requests about Wi-Fi; in the images it is /run/wifi. With none, clients
            cannot choose a network.
            """),
        Setting(
            .offlineOnly, "offline", "only", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            The offline mode: with yes, products of the service play only when they are kept, and nothing is
            downloaded or validated. What plays already goes on to its end.
            """),
        Setting(
            .offlineQuality, "offline", "quality", .choice(["low", "high", "lossless", "hi-res-lossless"]), "lossless",
            changesWhileRunning: true,
            """
            The quality of products that are kept from now on.
            """),
        Setting(
            .offlineVideoQuality, "offline", "video-quality", .choice(["low", "medium", "high"]), "high",
            changesWhileRunning: true,
            """
            The quality of videos that are kept from now on. Their audio plays.
            """),
        Setting(
            .offlineOverCellular, "offline", "over-cellular", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            Whether products are downloaded and validated over a cellular network too.
            """),
        Setting(
            .offlineKeepPlayed, "offline", "keep-played", .choice(["yes", "no"]), "no", changesWhileRunning: true,
            """
            Whether products that were played to their end are kept too, while there is room. They are downloaded once
            more for that. They go first when something else needs the room: those that were played long ago and seldom.
            """),
        Setting(
            .offlineFolder, "offline", "folder", .path(orWord: "auto"), "auto",
            """
            Where kept products are, encrypted. With auto it is the folder offline in the state folder. It must hold
            nothing else.
            """),
        Setting(
            .offlineSize, "offline", "size", .integer(0...16_777_216), "0",
            """
            How many MiB that folder may have; 0 is as much as its file system has. What does not fit waits; nothing
            that somebody asked for is removed.
            """),
        Setting(
            .offlineFreeSpace, "offline", "free-space", .integer(0...1_048_576), "256",
            """
            How many MiB of its file system stay free.
            """),
        Setting(
            .offlineDownloads, "offline", "downloads", .integer(1...16), "3",
            """
            How many products are downloaded at once.
            """),
        Setting(
            .eventsPlayLog, "events", "play-log", .choice(["yes", "no"]), "yes",
            """
            Whether the service learns which of its products were heard, when, and for how long. Files on disks are
            never reported.
            """),
        Setting(
            .eventsStatistics, "events", "statistics", .choice(["yes", "no"]), "yes",
            """
            Whether the service learns how well streaming and downloading worked: starts, interruptions, errors.
            """),
        Setting(
            .eventsSize, "events", "size", .integer(1...1024), "20",
            """
            How many MB may wait while the service cannot be reached. The oldest statistics are dropped first.
            """),
        Setting(
            .libraryFolders, "library", "folders", .paths, "/data/music:/media",
            """
            The folders with music, with a colon between two; none for no index. The defaults are the folders of the
            images. A folder that is missing is looked for each hour, and when something is mounted.
            """),
        Setting(
            .libraryPlaylists, "library", "playlists", .path(orWord: "auto"), "auto",
            """
            The folder of the kept playlists, files NAME.m3u8, which may also be copied there. With auto it is playlists
            in the state folder; in the images it is /data/music/playlists.
            """),
        Setting(
            .mpdAddress, "mpd", "address", .listener, "none",
            """
            Where clients of MPD connect: an address of this machine, any for all of its addresses, or none.
            """),
        Setting(
            .mpdPort, "mpd", "port", .integer(1...65_535), "6600",
            """
            The port for them.
            """),
        Setting(
            .mpdSocket, "mpd", "socket", .path(orWord: "none", limit: SocketFile.lengthLimit), "none",
            """
            A socket for clients on this machine, which may add any file, or none.
            """),
        Setting(
            .mpdClients, "mpd", "clients", .choice(["private", "all"]), "private",
            """
            Whose connections are accepted: with private only those from private networks (192.168…, 10…, fe80…).
            The protocol has no encryption.
            """),
        Setting(
            .mpdPasswords, "mpd", "passwords", .path(orWord: "none"), "none",
            """
            A file with a line for each password: its level, a space and the password. The levels are read, add,
            control and admin; each includes those before it.
            """),
        Setting(
            .mpdPermission, "mpd", "permission", .choice(["none", "read", "add", "control", "admin"]), "admin",
            """
            The level of clients without a password.
            """),
        Setting(
            .webAddress, "web", "address", .listener, "none",
            """
            Where browsers connect: an address of this machine, any for all of its addresses, or none.
            """),
        Setting(
            .webPort, "web", "port", .integer(1...65_535), "8080",
            """
            The port for them. For a port below 1024 the daemon needs the right (CAP_NET_BIND_SERVICE).
            """),
        Setting(
            .webClients, "web", "clients", .choice(["private", "all"]), "private",
            """
            Whose connections are accepted: with private only those from private networks (192.168…, 10…, fe80…). all
            needs certificate, key and password-file.
            """),
        Setting(
            .webNames, "web", "names", .text, "none",
            """
            Names of this machine in the network, with a comma between two: kitchen.fritz.box. Its addresses, names
            without a dot, and those that end with .local, .home.arpa or .internal need not be named.
            """),
        Setting(
            .webPasswordFile, "web", "password-file", .path(orWord: "none"), "none",
            """
            A file with the password of the page in its first line, or none for a page without one.
            """),
        Setting(
            .webCertificate, "web", "certificate", .path(orWord: "none"), "none",
            """
            A file with the certificate of this machine in PEM, followed by those between it and its authority. With it
            and key, the port speaks HTTPS alone; with none, HTTP without encryption.
            """),
        Setting(
            .webKey, "web", "key", .path(orWord: "none"), "none",
            """
            A file with the private key of the certificate in PEM, without a password.
            """),
        Setting(
            .webFolder, "web", "folder", .path(orWord: nil), "/usr/share/tonearm/web",
            """
            The folder with the files of the page.
            """),
        Setting(
            .discoveryAnnounce, "discovery", "announce", .choice(["auto", "on", "off"]), "auto",
            """
            Whether the servers of this player are announced by multicast DNS. With auto they are, unless avahi-daemon
            runs on this machine.
            """),
        Setting(
            .discoveryName, "discovery", "name", .label, "auto",
            """
            The name that other machines show. With auto it is the name of this machine. If another one has it already,
            a number is appended.
            """),
        Setting(
            .updateFolder, "update", "folder", .path(orWord: "none"), "none",
            """
            The folder in which the system takes requests for updates; in the images it is /run/update. With none,
            clients cannot update this machine.
            """),
        Setting(
            .updateCommand, "update", "command", .text, "none", changesWhileRunning: true,
            """
            The shell command that tells the system of a request in that folder; none tells it nothing.
            """),
        Setting(
            .updateAddress, "update", "address", .address(["https"], limit: UpdateAddress.lengthLimit), "none",
            """
            Where the update bundle for this board is published: the page proposes this address.
            """),
        Setting(
            .logLevel, "log", "level", .choice(["error", "warning", "notice", "info", "debug"]), "notice",
            changesWhileRunning: true,
            """
            The least important level of messages to write.
            """),
    ]

    /// `[section] key`, for messages.
    var title: String { "[\(section)] \(key)" }
}
