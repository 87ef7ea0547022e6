import Appliance
import Board
import Platform
import Player

/// The settings of a start: those of the file, or those of the last good start where the file cannot be used
/// (docs/decisions/last-good-settings.md).
struct StartSettings {
    /// The settings below those of clients.
    private(set) var configuration: Configuration
    private(set) var board: BoardProfile?
    /// Why the file cannot be used, a line for each mistake; empty when it can.
    private(set) var mistakes: [String]
    /// Where the state may be.
    private let stateFolders: [String]
    /// Where the state is.
    private var stateFolder: String

    /// Reads the file, and the board profile that it names.
    init(_ file: ConfigurationFile) {
        let (reading, mistakes) = file.readAround()
        configuration = reading.configuration
        stateFolder = configuration.stateFolder
        stateFolders = reading.stateFolders
        self.mistakes = mistakes
        guard mistakes.isEmpty else { return }
        do throws(ConfigurationFile.Problems) { board = try Self.board(of: configuration) } catch {
            self.mistakes = error.lines
        }
    }

    /// Returns the folder of the state. With mistakes in the file, it has a state already.
    /// - Throws: the mistakes, when there is none.
    mutating func findState() throws(ConfigurationFile.Problems) -> String {
        if mistakes.isEmpty { return stateFolder }
        let found = stateFolders.first { FileKind(at: "\($0)/\(Player.databaseName)") == .file }
        guard let found else { throw ConfigurationFile.Problems(lines: mistakes) }
        stateFolder = found
        return found
    }

    /// Puts the settings of the last good start in force where the file has mistakes.
    /// - Throws: the mistakes, when there are no such settings, or none that can be used.
    mutating func settle(_ lastGood: Configuration?) throws(ConfigurationFile.Problems) {
        if !mistakes.isEmpty { try fallBack(to: lastGood) }
    }

    /// Does so where a part of the program cannot use the file's settings.
    /// - Throws: `lines`, when those of the last good start are in force already, or cannot be used.
    mutating func replace(_ lastGood: Configuration?, because lines: [String]) throws(ConfigurationFile.Problems) {
        guard mistakes.isEmpty else { throw ConfigurationFile.Problems(lines: lines) }
        mistakes = lines
        try fallBack(to: lastGood)
    }

    private mutating func fallBack(to lastGood: Configuration?) throws(ConfigurationFile.Problems) {
        guard let lastGood else { throw ConfigurationFile.Problems(lines: mistakes) }
        do throws(ConfigurationFile.Problems) { board = try Self.board(of: lastGood) } catch {
            throw ConfigurationFile.Problems(lines: mistakes + error.lines)
        }
        configuration = lastGood.withState(in: stateFolder)
        for line in mistakes { Log.error(line) }
    }

    private static func board(of configuration: Configuration) throws(ConfigurationFile.Problems) -> BoardProfile? {
        guard let path = configuration.boardProfile else { return nil }
        do throws(BoardProfileError) {
            return try BoardProfile(path: path)
        } catch {
            throw ConfigurationFile.Problems(lines: error.lines)
        }
    }
}
