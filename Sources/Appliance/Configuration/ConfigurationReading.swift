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
    /// The values of lines that cannot be used.
    private var unused: [String] = []

    /// - Parameter files: the name of each file, for messages and origins, and its contents.
    public init(_ files: [(name: String, bytes: [UInt8])]) {
        for file in files {
            let text = ConfigurationText(file.bytes, file: file.name)
            problems += configuration.read(text, file: file.name, unused: &unused)
        }
    }

    /// The folders that may have the state, the likeliest first. With mistakes, a wrong line may be `[player] state`.
    public var stateFolders: [String] {
        if problems.isEmpty || configuration.isSet(.state) { return [configuration.stateFolder] }
        return unused.filter { $0.utf8.first == UInt8(ascii: "/") } + [configuration.stateFolder]
    }
}
