import ApplianceTestSupport
import Events
import PCM
import Platform
import Player
import Testing

@testable import Appliance

@Suite("The configuration file")
struct ConfigurationTests: ConfigurationSuite {
    @Test("Without a file there is a value for everything")
    func defaults() throws {
        let configuration = Configuration()
        #expect(configuration.device == nil)
        #expect(configuration.sampleFormat == nil)
        #expect(configuration.bufferMilliseconds == 200)
        #expect(configuration.periodCount == 4)
        #expect(configuration.mixerControl == nil)
        #expect(!configuration.forcesSoftwareVolume)
        #expect(configuration.maximumVolume == .full)
        #expect(configuration.realtimePriority == 40)
        #expect(configuration.firstVolume == Volume(decibels: -30))
        #expect(configuration.usesFades)
        #expect(configuration.adaptsToDevice)
        #expect(configuration.normalization == .album)
        #expect(configuration.preAmp == 4)
        #expect(configuration.untaggedGain == 0)
        #expect(configuration.resume == .playing)
        #expect(configuration.stateFolder == "/var/lib/tonearm")
        #expect(configuration.socketPath == "/run/tonearm/control")
        #expect(configuration.socketMode == 0o660)
        #expect(configuration.socketGroup == "tonearm")
        #expect(configuration.clientLimit == 32)
        #expect(configuration.boardProfile == nil)
        #expect(configuration.commandLine(of: .powerOff) == "systemctl poweroff")
        #expect(configuration.logLevel == .notice)
        #expect(configuration.libraryFolders == ["/data/music", "/media"])
        #expect(try parse("[library]\nfolders = none").libraryFolders.isEmpty)
        #expect(try parse("[player]\nstate = /s").playlistFolder == "/s/playlists")
        #expect(problems("[library]\nfolders = /a:b").first?.contains("must be paths that begin with /") == true)
        #expect(configuration.announcement == .unlessAvahiRuns && configuration.announcedName == nil)
        #expect(try parse("") == configuration)
    }

    @Test("Every setting can be set")
    func everything() throws {
        let configuration = try parse(
            """
            [audio]
            device = hw:CARD=DAC,DEV=0
            sample-format = S24_3LE
            buffer = 1 s
            periods = 2
            mixer-control = Digital
            volume-route = software
            maximum-volume = 80 %
            first-volume = -40 dB
            realtime-priority = 0
            fades = off
            adaptation = off
            channels = swapped
            resampling = high
            rate = 48000
            highest-rate = 96000
            dsd = dop
            normalization = track
            pre-amp = -6 dB
            untagged-gain = -9 dB
            [player]
            resume = empty
            state = /data/tonearm
            [control]
            socket = none
            mode = 600
            group = audio
            clients = 4
            client-settings = off
            [board]
            profile = /etc/tonearm/board.conf
            dac = hifiberry-amp100
            dac-table = /etc/tonearm/dacs
            power-off = poweroff -f
            network-restart = ifup -a
            restart = reboot -f
            system-folder = /run/system
            [service]
            url = https://nas.local:8443
            client = kitchen
            token-file = /etc/tonearm/token
            quality = hi-res-lossless
            quality-cellular = high
            [network]
            ca-file = /etc/tonearm/nas.pem
            pins = nas.local 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=,b 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
            proxy = http://proxy:3128
            read-ahead = 4
            cache-folder = /data/cache
            cache-size = 64
            wifi-folder = /run/wifi
            [offline]
            only = yes
            quality = high
            video-quality = medium
            over-cellular = yes
            keep-played = yes
            folder = /data/kept
            size = 4096
            free-space = 64
            downloads = 2
            [events]
            play-log = no
            statistics = yes
            size = 5
            [library]
            folders = /data/music/:/media/disk
            playlists = /data/playlists
            [mpd]
            address = 192.168.1.10
            port = 6601
            socket = /run/tonearm/mpd
            clients = all
            passwords = /etc/tonearm/mpd-passwords
            permission = read
            [web]
            address = any
            port = 80
            clients = all
            names = Kitchen.fritz.box, speaker.example
            password-file = /etc/tonearm/web-password
            guests = music-only
            certificate = /etc/tonearm/web.pem
            key = /etc/tonearm/web.key
            folder = /data/web
            thumbnails = 16 MB
            [discovery]
            announce = off
            name = Küche
            [update]
            folder = /run/update
            command = request update
            address = https://updates.example/kitchen.update
            [log]
            level = debug
            """)
        #expect(configuration.announcement == .never && configuration.announcedName == "Küche")
        #expect(configuration.libraryFolders == ["/data/music", "/media/disk"])
        #expect(configuration.playlistFolder == "/data/playlists")
        #expect(configuration.mpdAddress == "192.168.1.10" && configuration.mpdPort == 6601)
        #expect(configuration.mpdSocketPath == "/run/tonearm/mpd" && configuration.mpdAcceptsAll)
        #expect(configuration.mpdPasswordFile == "/etc/tonearm/mpd-passwords")
        #expect(configuration.webAddress == "any" && configuration.webPort == 80 && configuration.webAcceptsAll)
        #expect(configuration.webNames == ["kitchen.fritz.box", "speaker.example"])
        #expect(configuration.webPasswordFile == "/etc/tonearm/web-password" && configuration.webLimitsGuests)
        #expect(
            configuration.webCertificate == "/etc/tonearm/web.pem" && configuration.webKey == "/etc/tonearm/web.key")
        #expect(configuration.webFolder == "/data/web" && configuration.thumbnailBytes == 16_000_000)
        #expect(configuration.device == "hw:CARD=DAC,DEV=0")
        #expect(configuration.sampleFormat == .s24Packed)
        #expect(configuration.bufferMilliseconds == 1000)
        #expect(configuration.periodCount == 2)
        #expect(configuration.mixerControl == "Digital")
        #expect(configuration.forcesSoftwareVolume)
        #expect(configuration.maximumVolume == Volume(percent: 80))
        #expect(configuration.realtimePriority == nil)
        #expect(configuration.firstVolume == Volume(decibels: -40))
        #expect(!configuration.usesFades)
        #expect(!configuration.adaptsToDevice)
        #expect(configuration.channelRouting == .swapped)
        #expect(configuration.normalization == .track)
        #expect(configuration.preAmp == -6)
        #expect(configuration.untaggedGain == -9)
        #expect(configuration.resume == .empty)
        #expect(configuration.stateFolder == "/data/tonearm")
        #expect(configuration.socketPath == nil)
        #expect(configuration.socketMode == 0o600)
        #expect(configuration.socketGroup == "audio")
        #expect(configuration.clientLimit == 4)
        #expect(configuration.boardProfile == "/etc/tonearm/board.conf")
        #expect(configuration.commandLine(of: .powerOff) == "poweroff -f")
        #expect(configuration.commandLine(of: .networkRestart) == "ifup -a")
        #expect(configuration.commandLine(of: .restart) == "reboot -f")
        #expect(configuration.systemFolder == "/run/system")
        let streaming = try #require(configuration.streamingSettings)
        #expect(streaming.service.baseURL == "https://nas.local:8443" && streaming.service.clientName == "kitchen")
        #expect(streaming.service.readAhead == 4 << 20)
        #expect(streaming.tokenFile == "/etc/tonearm/token" && streaming.authorities == "/etc/tonearm/nas.pem")
        #expect(streaming.pins.map { $0.host } == ["nas.local", "b"])
        #expect(streaming.proxy == "http://proxy:3128")
        #expect(streaming.cache?.folder == "/data/cache" && streaming.cache?.limits.bytes == (64 << 20) - 16_000_000)
        #expect(configuration.wifiFolder == "/run/wifi")
        #expect(configuration.wifiQuality == .hiResLossless && configuration.cellularQuality == .high)
        let offline = try #require(configuration.offlineSettings)
        #expect(offline.folder == "/data/kept" && offline.parallelDownloads == 2)
        #expect(offline.limits.bytes == 4096 << 20 && offline.limits.freeBytes == 64 << 20)
        #expect(configuration.offlineQuality == .high && configuration.offlineOverCellular)
        #expect(configuration.offlineVideoQuality == .medium)
        #expect(configuration.isOfflineOnly && configuration.downloadsPlayed)
        #expect(configuration.eventConsent == [.statistics] && configuration.eventBytes == 5_000_000)
        #expect(
            configuration.updateFolder == "/run/update" && configuration.commandLine(of: .update) == "request update")
        #expect(configuration.updateAddress?.text == "https://updates.example/kitchen.update")
        #expect(configuration.headerDAC == "hifiberry-amp100" && configuration.dacTable == "/etc/tonearm/dacs")
        #expect(configuration.logLevel == .debug)
        for name in SettingName.allCases { #expect(configuration.isSet(name), "\(name)") }
    }

    // MARK: How it is written

    @Test(
        "Comments, blanks, quotes and line ends",
        arguments: [
            ("[audio]\ndevice=hw:1", "hw:1"), ("\u{FEFF}[audio]\r\n\tdevice\t=\t hw:1 \r\n", "hw:1"),
            ("[audio] ; sound\n# device = a\n;device = b\ndevice = hw:1 # the DAC", "hw:1"),
            ("[ audio ]\ndevice = a#1;2", "a#1;2"), ("[audio]\ndevice = a b\t;c", "a b"),
            ("[audio]\ndevice = \" # \" # quoted", " # "), ("[audio]\ndevice = \"\\\"\\\\\"", "\"\\"),
            ("[player]\n[AUDIO]\nDevice = Küche", "Küche"),
            ("[audio]\rdevice = a\r", "a"), ("[audio]\ndevice = a = b", "a = b"),
        ])
    func notation(text: String, device: String) throws {
        #expect(try parse(text).device == device)
    }

    // MARK: Allowed values

    @Test(
        "No value of any type is read that is not allowed",
        arguments: [
            (
                .duration(0...600_000), ["0 ms", "500ms", "10 min", "600 s"],
                ["", "ms", "-1 ms", "1.5 s", "1 S", "11 min"]
            ),
            (.percent(0...100), ["0", "100 %", "7%"], ["-1 %", "101", "%", "5 dB"]),
            (.permissions, ["660", "0660", "0000"], ["0o660", "66", "1777", "-660", "abc"]),
        ] as [(SettingType, [String], [String])])
    func types(type: SettingType, good: [String], bad: [String]) {
        for text in good { #expect(type.value(of: text) != nil, "\(text)") }
        for text in bad { #expect(type.value(of: text) == nil, "\(text)") }
    }

    @Test(
        "Clients choose among cards only",
        arguments: [
            ("auto", true), ("hw:CARD=DAC,DEV=0", true), ("hw:0,0", true), ("null", false), ("default", false),
            ("file:FILE='|id',FORMAT=raw", false), ("hw:{ card 0 }", false), ("hw:0;x", false), ("plughw:0", false),
            (" ", false),
        ])
    func devicesOfClients(device: String, isAllowed: Bool) throws {
        let checked = try? Configuration.checked(device, for: .device)
        #expect((checked != nil) == isAllowed)
        // An earlier version may have stored such a name.
        let inForce = Configuration().overruled(by: [.device: device])
        #expect(inForce.isSet(.device) == isAllowed)
        #expect(try parse("[audio]\ndevice = null").device == "null")
    }

    // MARK: Out again

    @Test("The default file sets nothing, explains everything, and every line of it is right when its # is removed")
    func defaultFile() throws {
        let text = Configuration.defaultFile
        #expect(try parse(text) == Configuration())
        for line in text.split(separator: "\n") { #expect(line.utf8.count <= 120, "\(line)") }
        let keys = Setting.all.map(\.key)
        let uncommented = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            keys.contains { line.hasPrefix("#\($0) =") } ? line.dropFirst() : line
        }
        let configuration = try parse(uncommented.joined(separator: "\n"))
        for name in SettingName.allCases {
            #expect(configuration.isSet(name), "\(name)")
            #expect(configuration[name] == Configuration()[name])
        }
    }

    @Test("The table is in the order of the names, and its comments are short")
    func table() {
        #expect(Setting.all.map(\.name) == SettingName.allCases)
        for setting in Setting.all {
            #expect(Setting.sections.contains { $0.0 == setting.section })
            for line in setting.comment.split(separator: "\n") { #expect(line.utf8.count <= 116, "\(line)") }
        }
    }

    @Test("The shown configuration names the origins, and is a file with the same values")
    func shown() throws {
        let configuration = try parse("[audio]\nbuffer = 100ms\ndevice = \"a # b\"\n[board]\npower-off=a,b")
        let shown = configuration.shown
        #expect(shown.contains("\nbuffer = 100 ms                         # tonearm.conf:2\n"))
        #expect(shown.contains("\nperiods = 4                             # default\n"))
        let again = try parse(shown)
        for name in SettingName.allCases { #expect(again[name] == configuration[name], "\(name)") }
    }

    // MARK: Reload

    @Test("A reload applies the settings that can change, and reports the others")
    func reload() throws {
        let old = try parse("[audio]\nbuffer = 100 ms\npre-amp = 2 dB\n[log]\nlevel = info")
        let new = try parse("[audio]\nbuffer = 50 ms\nperiods = 4\npre-amp = 0 dB\n")
        #expect(old.difference(to: old) == Configuration.Difference())
        let difference = old.difference(to: new)
        #expect(difference.changed == [.preAmp, .logLevel])
        #expect(difference.needsRestart == [.buffer])
        #expect(
            old.refusal(.buffer, to: new)
                == "[audio] buffer = 50 ms (tonearm.conf:2) takes effect at the next start; "
                + "100 ms stays in force until then"
        )
    }

    // MARK: Set by a client

    @Test(
        "Settings that a start needs before those of clients, and commands, can be set only in the file",
        arguments: [
            SettingName.state, .socket, .socketMode, .socketGroup, .clients, .profile, .dac, .dacTable, .powerOff,
            .restart, .networkRestart, .systemFolder, .clientSettings,
        ])
    func fileOnly(name: SettingName) throws {
        let standard = Configuration()
        #expect(throws: SettingError.self) { try Configuration.checked(standard[name].plain, for: name) }
        #expect(standard.overruled(by: [name: name == .clients ? "1" : "/elsewhere"]) == standard)
    }

    @Test(
        "A limit of the file for volume and cellular networks can only be lowered by clients; without one, it is free",
        arguments: [
            ("audio.maximum-volume", "60 %", "50 %", "70 %"), ("service.quality-cellular", "high", "low", "lossless"),
            ("offline.over-cellular", "no", "no", "yes"),
        ])
    func limits(path: String, limit: String, lower: String, higher: String) throws {
        let name = try SettingName(path: path)
        let file = try parse("[\(name.setting.section)]\n\(name.setting.key) = \(limit)")
        #expect(file.refusal(of: lower, for: name) == nil)
        #expect(file.refusal(of: higher, for: name)?.contains("\(limit) (tonearm.conf:2)") == true)
        #expect(file.overruled(by: [name: lower]).written(name) == lower)
        #expect(file.overruled(by: [name: higher]) == file)
        #expect(Configuration().refusal(of: higher, for: name) == nil)
        #expect(Configuration().overruled(by: [name: higher]).written(name) == higher)
        // Other settings may be raised.
        #expect(try parse("[audio]\nbuffer = 50 ms").overruled(by: [.buffer: "1 s"]).bufferMilliseconds == 1000)
    }

    @Test("A line in the file switches the settings of clients off, and on again")
    func clientSettings() throws {
        let values: [SettingName: String] = [.preAmp: "1 dB", .clientSettings: "on"]
        let off = try parse("[control]\nclient-settings = off")
        #expect(off.overruled(by: values) == off)
        #expect(off.refusal(of: "1 dB", for: .preAmp)?.contains("[control] client-settings (tonearm.conf:2)") == true)
        #expect(try parse("[control]\nclient-settings = on").overruled(by: values).preAmp == 1)
    }

    @Test("No client can set a value that a file cannot hold", arguments: ["a\nb", "a\0b", "\u{7F}"])
    func controlCharacters(text: String) {
        #expect(throws: SettingError.self) { try Configuration.checked(text, for: .device) }
    }
}
