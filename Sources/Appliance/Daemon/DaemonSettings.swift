import Platform
import Player

/// The configuration in force: the values of the file, overridden by those of clients.
///
/// Thread: the daemon's.
public final class DaemonSettings {
    /// The configuration in force. A changed setting that cannot change at run time is not in it until the next start.
    public private(set) var configuration: Configuration

    /// The configuration at the start. Settings that cannot change while the daemon runs stay as they are in it.
    private let startConfiguration: Configuration
    private var file: Configuration
    private var clientValues: [SettingName: String]
    private let keep: (SettingName, String?) -> Void
    private let lastGood: LastGoodSettings
    /// Whether a start has used these settings of the file.
    private var isProved = true
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
        if let refusal = file.refusal(of: text, for: setting) { throw SettingError(refusal) }
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

    /// Returns why a guest cannot set a setting; nil when it can. Limits for hearing and for the bill of a network can
    /// only be lowered, also below what another client has set.
    /// - Parameter text: nil for the file's value.
    func refusalForGuests(of text: String?, for name: SettingName) -> String? {
        let setting = name.setting
        if setting.access == .clients { return "guests cannot set \(setting.title)" }
        guard let value = text.map({ setting.type.value(of: $0) }) ?? file[name] else { return nil }
        return setting.exceeds(configuration[name], value) ? "guests can only lower \(setting.title)" : nil
    }

    /// Writes the values of clients again: the state may have lost them.
    func keepAll() {
        for (name, text) in clientValues { keep(name, text) }
        guard isProved else { return }
        lastGood.forget()
        lastGood.keep(file)
    }

    // MARK: The file at the start

    /// Handles a start with mistakes in the file: the lines without one are in force.
    /// - Parameter mistakes: a line for each.
    public func startedWithMistakes(_ mistakes: [String]) { report(mistakes) }

    /// Handles a start that could not use the file's control socket: the next start tries it again.
    public func startedWithoutSocket(_ mistake: String) {
        isProved = false
        report([mistake])
    }

    /// Handles the end of a good start: a later start can fall back to its settings.
    func startIsComplete() { if isProved { lastGood.keep(file) } }

    // MARK: Reloading the file

    /// Applies another file as far as that is possible now, and logs the settings that need a restart.
    @discardableResult
    public func reload(_ file: Configuration) -> Configuration.Difference {
        report([])
        return adoptFile(file)
    }

    /// Applies the lines without mistakes; the other settings stay as they are.
    /// - Parameter mistakes: a line for each.
    public func reload(_ reading: ConfigurationReading, mistakes: [String], keeping names: [SettingName] = []) {
        report(mistakes)
        let new = mistakes.isEmpty ? reading.configuration : reading.completed(by: file).taking(names, from: file)
        _ = adoptFile(new)
    }

    private func adoptFile(_ file: Configuration) -> Configuration.Difference {
        isProved = true
        let difference = adopt(file)
        // Settings that wait for the next start are not proved yet.
        if difference.needsRestart.isEmpty { lastGood.keep(file) }
        return difference
    }

    /// The maximum number of mistakes that the problem lists.
    private static let listed = 8

    private func report(_ mistakes: [String]) {
        guard !mistakes.isEmpty else { return problems.set(DaemonProblem.configuration, nil) }
        let more = mistakes.count > Self.listed ? " (and \(mistakes.count - Self.listed) more)" : ""
        problems.set(
            DaemonProblem.configuration,
            "\(mistakes.prefix(Self.listed).joined(separator: "; "))\(more). The other lines are in force; these "
                + "settings are as at the last good start, or have their defaults. `tonearm config check` finds all "
                + "mistakes, `systemctl reload tonearm` applies the corrected file")
    }

    private func adopt(_ file: Configuration) -> Configuration.Difference {
        let new = file.overruled(by: clientValues)
        var difference = configuration.difference(to: new)
        let differing = difference.needsRestart
        difference.needsRestart = startConfiguration.difference(to: new).needsRestart
        // Logs each setting once, and not again after later changes.
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
