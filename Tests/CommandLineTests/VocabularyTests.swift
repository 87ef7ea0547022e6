import Testing

@testable import Appliance
@testable import Board
@testable import Control
@testable import tonearm

@Suite("Buttons, socket and command line have one vocabulary")
struct VocabularyTests {
    struct Row: CustomTestStringConvertible {
        let name: String
        /// The commands of buttons.
        let button: ButtonAction?
        /// Words of the command line, without `tonearm`; the request has the name.
        let words: String?
        var testDescription: String { name }

        init(_ name: String, button: ButtonAction? = nil, _ words: String? = nil) {
            self.name = name
            self.button = button
            self.words = words ?? name
        }
    }

    static let rows: [Row] = [
        Row("play", button: .play), Row("pause", button: .pause), Row("toggle", button: .toggle),
        Row("next", button: .next), Row("previous", button: .previous), Row("stop", button: .stop),
        Row("volume-up", button: .volumeUp), Row("volume-down", button: .volumeDown), Row("mute", button: .mute),
        Row("shuffle", button: .shuffle), Row("network-restart", button: .networkRestart),
        Row("restart", button: .restart),
        Row("power-off", button: .powerOff), Row("seek"), Row("volume"), Row("repeat"), Row("status"), Row("focus"),
        Row("events"),
        Row("queue"), Row("queue-set", "queue set"), Row("queue-add", "queue add"), Row("queue-insert", "queue insert"),
        Row("queue-move", "queue move"), Row("queue-remove", "queue remove"), Row("queue-clear", "queue clear"),
        Row("offline-add", "offline add"), Row("offline-remove", "offline remove"),
        Row("offline-cancel", "offline cancel"),
        Row("offline-pause", "offline pause"), Row("offline-resume", "offline resume"),
        Row("offline-status", "offline status"), Row("offline-verify", "offline verify"),
        Row("library-status", "library status"), Row("library-scan", "library scan"),
        Row("library-search", "library search"), Row("library-list", "library list"),
        Row("playlist"), Row("playlist-save", "playlist save"), Row("playlist-add", "playlist add"),
        Row("playlist-remove", "playlist remove"), Row("playlist-move", "playlist move"),
        Row("playlist-rename", "playlist rename"), Row("playlist-delete", "playlist delete"),
        Row("wifi-status", "wifi status"), Row("wifi-scan", "wifi scan"), Row("wifi-connect", "wifi connect"),
        Row("wifi-forget", "wifi forget"),
        Row("config-get", "config get"), Row("config-set", "config set"), Row("config-unset", "config unset"),
    ]
    /// Requests for programs alone, and `favourite`, which a command for each value has: `library unfavourite`. For
    /// people, `devices`, `login`, `logout` and `update` need no daemon; `update --cancel` sends `update-cancel`.
    static let forPrograms = [
        "version", "subscribe", "unsubscribe", "queue-collect", "power", "offline-jobs", "offline-items",
        "loudness-known",
        "loudness-keep", "playlists", "favourite", "devices", "service-status", "service-login", "service-cancel",
        "service-logout", "update-status", "update", "update-cancel",
        "machine",
    ]

    @Test("Each name is the same everywhere", arguments: rows)
    func row(row: Row) throws {
        #expect(RemoteRequest.names.contains(row.name))
        if let button = row.button {
            #expect(button.rawValue == row.name)
            #expect(ApplianceCommand(name: row.name)?.name == row.name)
        }
        let words = try #require(row.words).split(separator: " ").map(String.init)
        let commands =
            TransportCommand.names + [
                "play", "status", "queue", "playlist", "library", "offline", "events", "focus", "wifi", "config",
            ]
        #expect(commands.contains(words[0]))
        if words.count > 1 { #expect(row.name == words.joined(separator: "-")) }
    }

    @Test("No face has a name that the table has not")
    func complete() {
        let names = Self.rows.map(\.name)
        #expect(Set(RemoteRequest.names) == Set(names + Self.forPrograms))
        #expect(Set(ApplianceCommand.allCases.map(\.name)) == Set(Self.rows.compactMap { $0.button?.rawValue }))
        #expect(Set(ButtonAction.allCases) == Set(Self.rows.compactMap(\.button)))
        #expect(Set(TransportCommand.names).isSubset(of: names))
    }

    @Test("Old names lead to new ones")
    func oldNames() {
        for (old, new) in TransportCommand.oldNames {
            #expect(!Self.rows.contains { $0.name == old } && Self.rows.contains { $0.name == new })
        }
        for (old, action) in ButtonAction.oldNames {
            #expect(ButtonAction(rawValue: old) == nil && Self.rows.contains { $0.button == action })
        }
    }

    @Test("The output of a client for people cannot control the terminal, and shows bytes of names")
    func visible() {
        #expect(DisplayText.visibleLines("a\u{9B}2J\nb\u{1B}[0m\ncaf\u{EFE9}") == "a 2J\nb [0m\ncaf\\xe9")
    }
}
