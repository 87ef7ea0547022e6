import Platform
import Player

/// The daemon's configuration: a value for every setting, checked as a whole, and where each comes from.
///
/// A value. The default file, `Configuration.defaultFile`, explains each setting.
public struct Configuration: Equatable, Sendable {
    /// Where a value comes from.
    public enum Origin: Equatable, Sendable {
        case standard
        case file(String, line: Int)
        /// Set by a client. It overrides the file.
        case client

        var text: String {
            switch self {
            case .standard: "default"
            case .file(let file, let line): "\(file):\(line)"
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
        self.init()
        let text = ConfigurationText(bytes, file: file)
        var problems = text.problems
        func report(_ line: Int, _ message: String) {
            problems.append(ConfigurationProblem(file: file, line: line, message: message))
        }
        for section in text.sections where !Self.isSection(section.name) {
            report(section.line, Self.unknownSection(section.name))
        }
        for assignment in text.assignments where Self.isSection(assignment.section) {
            guard let setting = Self.setting(assignment.section, assignment.key) else {
                report(assignment.line, Self.unknownKey(assignment.key, in: assignment.section))
                continue
            }
            let index = setting.name.rawValue
            if case .file(_, let first) = origins[index] {
                report(assignment.line, "\(setting.key) was set in line \(first) already")
            } else if let value = setting.type.value(of: assignment.value) {
                values[index] = value
                origins[index] = .file(file, line: assignment.line)
            } else {
                report(assignment.line, Self.notAllowed(assignment.value, for: setting))
            }
        }
        if !problems.isEmpty { throw Problems(problems: problems.sorted { $0.line < $1.line }) }
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

    /// Whether a file sets it. Settings that can also be changed at run time (volume, loudness) follow the file only
    /// when the file sets them.
    public func isSet(_ name: SettingName) -> Bool { origins[name.rawValue] != .standard }

    // MARK: Set at run time

    /// This configuration, overridden by values that clients have set. Values that are not allowed (any more) are left
    /// out.
    public func overruled(by values: [SettingName: String]) -> Configuration {
        var configuration = self
        for (name, text) in values where name.setting.refusalForClients(of: text) == nil {
            guard let value = name.setting.type.value(of: text) else { continue }
            configuration.values[name.rawValue] = value
            configuration.origins[name.rawValue] = .client
        }
        return configuration
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

    /// The effect of a reload from this configuration to another.
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
