import Platform
import Player

/// The daemon's configuration: a value for every setting, checked as a whole, and the origin of each value.
///
/// The default file, `Configuration.defaultFile`, explains each setting.
public struct Configuration: Equatable, Sendable {
    /// The origin of a value.
    public enum Origin: Equatable, Sendable {
        case standard
        case file(String, line: Int)
        /// The value of the last good start, because the file has mistakes.
        case lastGood
        /// Set by a client. It overrides the file.
        case client

        var text: String {
            switch self {
            case .standard: "default"
            case .file(let file, let line): "\(file):\(line)"
            case .lastGood: "last good settings"
            case .client: "set at run time"
            }
        }
    }

    /// All mistakes in a configuration, in the order of the lines.
    public struct Problems: Error, Equatable, Sendable {
        public let problems: [ConfigurationProblem]
    }

    // The values in the order of `SettingName`.
    private var values: [SettingValue]
    private var origins: [Origin]
    /// Accepted lines whose author may have meant something else, for the user.
    public private(set) var notes: [ConfigurationProblem] = []

    /// The defaults, as without a file.
    public init() {
        values = Setting.all.map { setting in
            guard let value = setting.type.value(of: setting.standard) else {
                preconditionFailure("the default of \(setting.title) is not allowed")
            }
            return value
        }
        origins = Setting.all.map { _ in .standard }
    }

    /// Reads a configuration file.
    /// - Parameter file: its name, for messages and origins.
    /// - Throws: all mistakes in it, at once.
    public init(parsing bytes: [UInt8], file: String) throws(Problems) {
        let reading = ConfigurationReading([(file, bytes)])
        if !reading.problems.isEmpty { throw Problems(problems: reading.problems) }
        self = reading.configuration
    }

    /// Reads a file. Its usable lines override the settings of the files before it.
    /// - Parameter unused: gets the lines that cannot be used.
    /// - Returns: all mistakes in it, in the order of the lines.
    mutating func read(_ text: ConfigurationText, file: String, unused: inout UnusedLines) -> [ConfigurationProblem] {
        var problems = text.problems
        let earlier = notes.count
        notes += text.notes
        func report(_ line: Int, _ message: String) {
            problems.append(ConfigurationProblem(file: file, line: line, message: message))
        }
        for section in text.sections where !Self.isSection(section.name) {
            report(section.line, Self.unknownSection(section.name))
        }
        for assignment in text.assignments {
            guard Self.isSection(assignment.section) else {
                unused.values.append(assignment.value)
                continue
            }
            guard let setting = Self.setting(assignment.section, assignment.key) else {
                report(assignment.line, Self.unknownKey(assignment.key, in: assignment.section))
                unused.values.append(assignment.value)
                if let meant = Self.meant(assignment.key, in: assignment.section) { unused.settings.append(meant) }
                continue
            }
            let index = setting.name.rawValue
            if case .file(let first, let line) = origins[index], first.utf8.elementsEqual(file.utf8) {
                report(assignment.line, "\(setting.key) was set in line \(line) already")
            } else if let value = setting.type.value(of: assignment.value) {
                values[index] = value
                origins[index] = .file(file, line: assignment.line)
                unused.settings.removeAll { $0 == setting.name }
                if assignment.isCut, setting.type.isFree {
                    notes.append(
                        ConfigurationProblem(file: file, line: assignment.line, message: Self.cut(setting.key)))
                }
            } else {
                report(assignment.line, Self.notAllowed(assignment.value, for: setting))
                unused.settings.append(setting.name)
            }
        }
        notes[earlier...].sort { $0.line < $1.line }
        return problems.sorted { $0.line < $1.line }
    }

    /// Returns the setting that an unknown key probably means.
    private static func meant(_ key: String, in section: String) -> SettingName? {
        let keys = Setting.all.filter { $0.section.utf8.elementsEqual(section.utf8) }.map { $0.key }
        return Suggestion.nearest(to: key, among: keys).flatMap { setting(section, $0)?.name }
    }

    private static func isSection(_ name: String) -> Bool {
        Setting.sections.contains { $0.0.utf8.elementsEqual(name.utf8) }
    }

    private static func setting(_ section: String, _ key: String) -> Setting? {
        Setting.all.first { $0.section.utf8.elementsEqual(section.utf8) && $0.key.utf8.elementsEqual(key.utf8) }
    }

    // MARK: Messages

    private static func unknownSection(_ name: String) -> String {
        let names = Setting.sections.map { $0.0 }
        return "unknown section [\(name)]\(question(Suggestion.nearest(to: name, among: names)))"
            + " Sections: \(names.joined(separator: ", "))"
    }

    private static func unknownKey(_ key: String, in section: String) -> String {
        let keys = Setting.all.filter { $0.section.utf8.elementsEqual(section.utf8) }.map { $0.key }
        var hint = question(Suggestion.nearest(to: key, among: keys))
        if let elsewhere = Setting.all.first(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
            hint = "; it belongs to [\(elsewhere.section)]."
        }
        return "unknown key \"\(key)\" in [\(section)]\(hint) Keys: \(keys.joined(separator: ", "))"
    }

    private static func cut(_ key: String) -> String {
        "the \(key) ends before the # or ;. If that belongs to it, put the whole of it in quotes: \(key) = \"…\". "
            + "Otherwise begin a line with the comment"
    }

    private static func notAllowed(_ value: String, for setting: Setting) -> String {
        if setting.type == .service, value.utf8.contains(UInt8(ascii: "@")), let fault = ServiceURL.fault(in: value) {
            // The value has a password: do not repeat it.
            return setting.key + fault
        }
        var guess: String?
        if case .choice(let words) = setting.type { guess = Suggestion.nearest(to: value, among: words) }
        return "\(setting.key) = \(Suggestion.quoted(value)): must be \(setting.type.allowed)"
            + (guess.map { ". Did you mean \($0)?" } ?? "")
    }

    private static func question(_ guess: String?) -> String { guess.map { "; did you mean \"\($0)\"?" } ?? "." }

    // MARK: Values

    public subscript(_ name: SettingName) -> SettingValue { values[name.rawValue] }

    public func origin(of name: SettingName) -> Origin { origins[name.rawValue] }

    /// Whether a file sets it. A setting that can also be changed at run time (volume, loudness) follows the file only
    /// when the file sets it.
    public func isSet(_ name: SettingName) -> Bool { origins[name.rawValue] != .standard }

    // MARK: Stored

    /// The values that are set, in the form of `checked`.
    var stored: [SettingName: String] {
        var stored: [SettingName: String] = [:]
        for name in SettingName.allCases where isSet(name) { stored[name] = self[name].plain }
        return stored
    }

    /// Takes the stored values of the last good start. Values that are not allowed (any more) are left out.
    init(lastGood stored: [SettingName: String]) {
        self.init()
        for (name, text) in stored {
            guard let value = name.setting.type.value(of: text) else { continue }
            values[name.rawValue] = value
            origins[name.rawValue] = .lastGood
        }
    }

    /// Returns these settings, completed while the files have mistakes. A setting that no line sets gets the value of
    /// the last good start, because a line with a mistake may have meant it. So does each setting in `meant`.
    /// - Parameter meant: settings that lines with mistakes mean.
    func completed(by lastGood: Configuration?, meant: [SettingName]) -> Configuration {
        guard let lastGood else { return self }
        return taking(SettingName.allCases.filter { !isSet($0) } + meant, from: lastGood)
    }

    /// Returns these settings, with the named ones as at the last good start. Named settings that were not set then
    /// stay unchanged.
    public func taking(_ names: [SettingName], from lastGood: Configuration) -> Configuration {
        var configuration = self
        for name in names where lastGood.isSet(name) {
            configuration.values[name.rawValue] = lastGood[name]
            configuration.origins[name.rawValue] = .lastGood
        }
        return configuration
    }

    /// Returns these settings, with the named ones at their defaults.
    public func withoutSettings(_ names: [SettingName]) -> Configuration {
        var configuration = self
        let standard = Configuration()
        for name in names {
            configuration.values[name.rawValue] = standard[name]
            configuration.origins[name.rawValue] = .standard
        }
        return configuration
    }

    /// Returns these settings with the state in `folder`, because the state may have been moved there.
    public func withState(in folder: String) -> Configuration {
        if stateFolder.utf8.elementsEqual(folder.utf8) { return self }
        var configuration = self
        configuration.values[SettingName.state.rawValue] = .text(folder)
        configuration.origins[SettingName.state.rawValue] = .lastGood
        return configuration
    }

    /// Returns whether both configurations have the same path, permissions and group of the control socket.
    public func hasSocket(of other: Configuration) -> Bool {
        [.socket, .socketMode, .socketGroup].allSatisfy { self[$0] == other[$0] }
    }

    // MARK: Set at run time

    /// Returns this configuration, overridden by values that clients have set. Leaves out values that are not allowed
    /// (any more) or exceed a limit of the file.
    public func overruled(by values: [SettingName: String]) -> Configuration {
        var configuration = self
        guard usesClientSettings else { return configuration }
        for (name, text) in values where name.setting.refusalForClients(of: text) == nil {
            guard let value = name.setting.type.value(of: text), !exceeds(value, name) else { continue }
            configuration.values[name.rawValue] = value
            configuration.origins[name.rawValue] = .client
        }
        return configuration
    }

    private func exceeds(_ value: SettingValue, _ name: SettingName) -> Bool {
        isSet(name) && name.setting.exceeds(self[name], value)
    }

    /// Returns the reason in the file why a client cannot set `name` to `text`; nil when it can.
    func refusal(of text: String, for name: SettingName) -> String? {
        if !usesClientSettings {
            let place = originText(.clientSettings)
            return "the settings of clients are switched off: [control] client-settings (\(place))"
        }
        guard let value = name.setting.type.value(of: text), exceeds(value, name) else { return nil }
        return "\(name.setting.key) can only be lowered: the limit is \(written(name)) (\(originText(name)))"
    }

    /// Returns the text as a file would write it.
    /// - Throws: the allowed values, when `text` is not one of them.
    public static func checked(_ text: String, for name: SettingName) throws(SettingError) -> String {
        if let refusal = name.setting.refusalForClients(of: text) { throw SettingError(refusal) }
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw SettingError("\(name.setting.key): control characters are not allowed")
        }
        guard let value = name.setting.type.value(of: text) else {
            throw SettingError(notAllowed(text, for: name.setting))
        }
        return value.plain
    }

    // MARK: Reloading

    /// The differences between two configurations.
    public struct Difference: Equatable, Sendable {
        /// The settings to apply now.
        public var changed: [SettingName] = []
        /// The settings that take effect at the next start.
        public var needsRestart: [SettingName] = []
    }

    /// Returns the effect of a reload from this configuration to `new`.
    public func difference(to new: Configuration) -> Difference {
        var difference = Difference()
        for name in SettingName.allCases where self[name] != new[name] || isSet(name) != new.isSet(name) {
            if name.setting.changesWhileRunning {
                difference.changed.append(name)
            } else if self[name] != new[name] {
                difference.needsRestart.append(name)
            }
        }
        return difference
    }

    /// Returns a log line about a setting that a reload to `new` cannot change.
    public func refusal(_ name: SettingName, to new: Configuration) -> String {
        "\(name.setting.title) = \(new[name].written) (\(new.origin(of: name).text)) takes effect at the next start; "
            + "\(self[name].written) stays in force until then"
    }
}
