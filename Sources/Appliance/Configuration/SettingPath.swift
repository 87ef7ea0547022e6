import Platform

extension SettingName {
    /// The name in requests and commands: `audio.maximum-volume`.
    public var path: String { "\(setting.section).\(setting.key)" }

    /// - Throws: when there is no such setting; the error suggests the nearest one.
    public init(path: String) throws(SettingError) {
        let found = Self.allCases.first { $0.path.utf8.elementsEqual(path.utf8) }
        if let found { self = found } else { throw SettingError(unknown: path) }
    }
}

/// Why a setting cannot be read or set, for the user.
public struct SettingError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }

    fileprivate init(unknown path: String) {
        let guess = Suggestion.nearest(to: path, among: SettingName.allCases.map { $0.path })
        let hint = guess.map { "; did you mean \($0)?" } ?? "; `tonearm config show` lists all."
        self.init("no setting \(Suggestion.quoted(path))\(hint)")
    }
}

extension Configuration {
    /// The value as a file writes it.
    public func written(_ name: SettingName) -> String { self[name].written }

    /// The origin of the value: `default`, `/etc/tonearm/tonearm.conf:12`, `set at run time`.
    public func originText(_ name: SettingName) -> String { origin(of: name).text }
}
