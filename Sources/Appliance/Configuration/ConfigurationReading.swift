/// The settings of configuration files that can be used, and all mistakes in them.
///
///     let reading = ConfigurationReading([("tonearm.conf", text), ("conf.d/10-kitchen.conf", other)])
///     for problem in reading.problems { print(problem) }     // tonearm.conf:12: unknown key "bufer" in [audio]; …
///
/// A value. A later file overrides those before it. Within a file, a setting is set once.
public struct ConfigurationReading: Equatable, Sendable {
    /// Lines with mistakes are left out.
    public private(set) var configuration = Configuration()
    /// In the order of the files and lines.
    public private(set) var problems: [ConfigurationProblem] = []
    private var unused = UnusedLines()

    /// - Parameter files: the name of each file, for messages and origins, and its contents.
    public init(_ files: [(name: String, bytes: [UInt8])]) {
        for file in files {
            let text = ConfigurationText(file.bytes, file: file.name)
            problems += configuration.read(text, file: file.name, unused: &unused)
        }
    }

    /// The folders that may contain the state, the likeliest first. There are several if a line with a mistake may be
    /// `[player] state`.
    public var stateFolders: [String] {
        if problems.isEmpty || configuration.isSet(.state) { return [configuration.stateFolder] }
        return unused.values.filter { $0.utf8.first == UInt8(ascii: "/") } + [configuration.stateFolder]
    }

    /// The settings to use while there are mistakes: the values of the lines without mistakes. All other settings have
    /// the value of the last good start, or the default.
    /// - Parameter lastGood: nil without a good start before.
    public func completed(by lastGood: Configuration?) -> Configuration {
        configuration.completed(by: lastGood, meant: unused.settings)
    }
}

/// Lines with mistakes, and the settings that they may mean.
struct UnusedLines: Equatable, Sendable {
    /// Values of sections and keys that do not exist.
    var values: [String] = []
    /// The settings whose value is not allowed, or whose key is nearly right.
    var settings: [SettingName] = []
}
