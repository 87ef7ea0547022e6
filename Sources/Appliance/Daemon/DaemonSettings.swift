import Platform
import Player

/// The configuration in force: the file's values, and above them those that clients have set.
///
/// Thread: the daemon's.
public final class DaemonSettings {
    /// Settings that cannot change while the daemon runs are in force from the next start on.
    public private(set) var configuration: Configuration

    /// As it was at the start; settings that cannot change while the daemon runs are in force as they are here.
    private let startConfiguration: Configuration
    private var file: Configuration
    private var clientValues: [SettingName: String]
    private let keep: (SettingName, String?) -> Void
    private let engine: PlaybackEngineConfig
    private let volume: VolumeControl
    private let problems: DaemonProblems
    private let changed: () -> Void

    /// - Parameters:
    ///   - file: the file's values.
    ///   - clientValues: what clients have set, as the state has it.
    ///   - keep: writes what a client sets; nil forgets it.
    ///   - changed: called after each change.
    init(
        file: Configuration, clientValues: [SettingName: String], engine: PlaybackEngineConfig, volume: VolumeControl,
        problems: DaemonProblems, keep: @escaping (SettingName, String?) -> Void, changed: @escaping () -> Void
    ) {
        self.file = file
        self.clientValues = clientValues
        self.engine = engine
        self.volume = volume
        self.problems = problems
        self.keep = keep
        self.changed = changed
        startConfiguration = file.overruled(by: clientValues)
        configuration = startConfiguration
        for name in SettingName.allCases { apply(name) }
    }

    // MARK: What clients set

    /// Sets a value above the file's. The state keeps it across restarts.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func set(_ setting: SettingName, to text: String) throws(SettingError) -> Bool {
        let text = try Configuration.checked(text, for: setting)
        clientValues[setting] = text
        keep(setting, text)
        return !adopt(file).needsRestart.contains(setting)
    }

    /// Puts the file's value back in force.
    /// - Returns: whether it is in force; otherwise it will be from the next start on.
    public func unset(_ setting: SettingName) -> Bool {
        clientValues[setting] = nil
        keep(setting, nil)
        return !adopt(file).needsRestart.contains(setting)
    }

    // MARK: Reloading the file

    /// The file was read and has mistakes: nothing changes.
    public func reloadFailed(_ mistake: String) {
        problems.set(DaemonProblem.configuration, "not reloaded: \(mistake)")
    }

    /// Brings another file into force as far as that is possible now, and logs what has to wait for a restart.
    @discardableResult
    public func reload(_ file: Configuration) -> Configuration.Difference {
        problems.set(DaemonProblem.configuration, nil)
        return adopt(file)
    }

    private func adopt(_ file: Configuration) -> Configuration.Difference {
        let new = file.overruled(by: clientValues)
        var difference = configuration.difference(to: new)
        let differing = difference.needsRestart
        difference.needsRestart = startConfiguration.difference(to: new).needsRestart
        // Each is logged once, and not again with every later change.
        for name in difference.needsRestart where differing.contains(name) {
            Log.warning(startConfiguration.refusal(name, to: new))
        }
        self.file = file
        configuration = new
        for name in difference.changed { apply(name) }
        changed()
        return difference
    }

    private func apply(_ setting: SettingName) {
        switch setting {
        case .maximumVolume: volume.setMaximum(configuration.maximumVolume)
        case .normalization: engine.loudnessNormalizationMode = configuration.normalization
        case .preAmp: engine.loudnessNormalizationPreAmp = configuration.preAmp
        case .logLevel: Log.minimumLevel = configuration.logLevel
        // Read where they are needed, or in force from the next start on.
        default: break
        }
    }
}
