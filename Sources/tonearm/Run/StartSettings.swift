import Appliance
import Board
import Platform
import Player

/// The settings of a start: the values of the file's lines without mistakes. All other settings have the value of the
/// last good start, or the default (docs/decisions/last-good-settings.md).
struct StartSettings {
    /// The settings that the values of clients override.
    private(set) var configuration: Configuration
    private(set) var board: BoardProfile?
    /// The mistakes in the file and in the profile, a line each.
    private(set) var mistakes: [String]
    private let reading: ConfigurationReading
    private var lastGood: Configuration?
    /// Where the state is.
    private var stateFolder: String

    /// Reads the file.
    init(_ file: ConfigurationFile) {
        (reading, mistakes) = file.readAround()
        configuration = reading.configuration
        stateFolder = configuration.stateFolder
    }

    /// Returns the folder of the state. With mistakes in the file, the line that names it may be the wrong one: then it
    /// is one that has a state already, if there is one.
    mutating func findState() -> String {
        if !mistakes.isEmpty {
            let found = reading.stateFolders.first { FileKind(at: "\($0)/\(Player.databaseName)") == .file }
            stateFolder = found ?? stateFolder
        }
        return stateFolder
    }

    /// Completes the settings, and reads the board profile that they name.
    /// - Parameter lastGood: the settings of the last good start; nil without one.
    mutating func settle(_ lastGood: Configuration?) {
        self.lastGood = lastGood
        if !mistakes.isEmpty { configuration = reading.completed(by: lastGood).withState(in: stateFolder) }
        readProfile()
        for line in mistakes { Log.error(line) }
    }

    /// Reads the profile and the DAC. If the profile is unusable, uses the profile of the last good start, if that is a
    /// different one.
    private mutating func readProfile() {
        let configured = ConfiguredBoard(configuration)
        board = configured.profile
        mistakes += configured.mistakes
        guard !configured.hasProfile, let lastGood else { return }
        guard let path = configuration.boardProfile, let other = lastGood.boardProfile, other != path else { return }
        let replaced = configuration.taking([.profile], from: lastGood)
        let replacement = ConfiguredBoard(replaced)
        guard replacement.hasProfile else { return }
        board = replacement.profile
        configuration = replaced
    }

    /// The settings without which there is no content service.
    private static let ofService: [SettingName] = [
        .serviceURL, .serviceTokenFile, .authorities, .pins, .proxy, .cacheFolder,
    ]

    /// Handles settings of the content service that the start cannot use: replaces them by those of the last good
    /// start.
    /// - Returns: false when there are none, or when they were already tried. Then there is no service.
    mutating func replaceService(because line: String) -> Bool {
        mistakes.append(line)
        Log.error(line)
        guard let good = lastGood else {
            configuration = configuration.withoutSettings(Self.ofService)
            return false
        }
        lastGood = nil
        configuration = configuration.withoutSettings(Self.ofService).taking(Self.ofService, from: good)
        return true
    }
}
