import Platform
import Player

/// The configuration in force: the values of the file, overridden by those of clients.
///
/// Thread: the daemon's.
public final class DaemonSettings {
    /// Settings that cannot change while the daemon runs take effect at the next start.
    public private(set) var configuration: Configuration

    /// The configuration at the start. Settings that cannot change while the daemon runs stay as they are here.
    private let startConfiguration: Configuration
    private var file: Configuration
    private var clientValues: [SettingName: String]
    private let keep: (SettingName, String?) -> Void
    private let lastGood: LastGoodSettings
    /// Whether the file's settings are in force; otherwise those of the last good start are.
    private var isFileInForce = true
    private let applied: AppliedSettings
    private let problems: DaemonProblems
    private let changed: () -> Void

    /// - Parameters:
    ///   - file: the file's values.
    ///   - clientValues: the values of clients, as stored in the state.
    ///   - keep: stores the value that a client sets; nil removes it.
    ///   - lastGood: stores the settings of a good start.
    ///   - changed: called after each change.
    init(
        file: Configuration, clientValues: [SettingName: String], _ applied: AppliedSettings,
        problems: DaemonProblems, keep: @escaping (SettingName, String?) -> Void, lastGood: LastGoodSettings,
        changed: @escaping () -> Void
    ) {
        self.file = file
        self.clientValues = clientValues
        self.applied = applied
        self.problems = problems
        self.keep = keep
        self.lastGood = lastGood
        self.changed = changed
        startConfiguration = file.overruled(by: clientValues)
        configuration = startConfiguration
        for name in SettingName.allCases { applied.apply(name, of: configuration) }
    }

    // MARK: The values of clients

    /// Sets a value that overrides the file. The state keeps it across restarts.
    /// - Returns: true when it is in force, false when it takes effect at the next start.
    public func set(_ setting: SettingName, to text: String) throws(SettingError) -> Bool {
        let text = try Configuration.checked(text, for: setting)
        clientValues[setting] = text
        keep(setting, text)
        return !adopt(file).needsRestart.contains(setting)
    }

    /// Removes the value of clients, so that the file's value applies again.
    /// - Returns: true when it is in force, false when it takes effect at the next start.
    public func unset(_ setting: SettingName) -> Bool {
        clientValues[setting] = nil
        keep(setting, nil)
        return !adopt(file).needsRestart.contains(setting)
    }

    /// Writes the values of clients again: the state may have lost them.
    func keepAll() {
        for (name, text) in clientValues { keep(name, text) }
        guard isFileInForce else { return }
        lastGood.forget()
        lastGood.keep(file)
    }

    // MARK: The file at the start

    /// Handles a start at which the file cannot be used: the settings of the last good start are in force.
    /// - Parameter mistakes: a line for each.
    public func startedWithoutFile(_ mistakes: [String]) {
        isFileInForce = false
        let more = mistakes.count > 1 ? " (and \(mistakes.count - 1) more)" : ""
        problems.set(
            DaemonProblem.configuration,
            "the settings of the last good start are in force until this is corrected (`tonearm config check` finds "
                + "all mistakes, `systemctl reload tonearm` applies the file): \(mistakes.first ?? "")\(more)")
    }

    /// Handles the end of a good start: the next one can fall back to its settings.
    func startIsComplete() { if isFileInForce { lastGood.keep(file) } }

    // MARK: Reloading the file

    /// Handles a file with mistakes: nothing changes.
    public func reloadFailed(_ mistake: String) {
        problems.set(DaemonProblem.configuration, "not reloaded: \(mistake)")
    }

    /// Applies another file as far as that is possible now, and logs the settings that need a restart.
    @discardableResult
    public func reload(_ file: Configuration) -> Configuration.Difference {
        problems.set(DaemonProblem.configuration, nil)
        isFileInForce = true
        let difference = adopt(file)
        // Settings that wait for the next start are not proved yet.
        if difference.needsRestart.isEmpty { lastGood.keep(file) }
        return difference
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
        for name in difference.changed { applied.apply(name, of: new) }
        changed()
        return difference
    }
}
