/// Something that the opening of the state found and that a person should know.
public struct StateFinding: Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Equatable, Sendable {
        /// What was damaged, and how many rows could be carried over into a new file.
        case damaged(String, rows: Int)
        /// The file could not be read at the start and had contents when it could: they are not in use.
        case foundLate
    }

    public var kind: Kind
    /// The database file.
    public var path: String
    /// Where the damaged one is now.
    public var aside: String?

    public init(kind: Kind, path: String, aside: String? = nil) {
        self.kind = kind
        self.path = path
        self.aside = aside
    }

    /// One line: what happened, what was done, what to do.
    public var description: String {
        let old = aside.map { " The old file is \($0)." } ?? ""
        switch kind {
        case .damaged(let what, let rows):
            return "\(path) was damaged (\(what)). \(rows) rows were carried over into a new file.\(old) "
                + "Check the queue and the settings; a medium that fails again should be replaced."
        case .foundLate:
            return "\(path) could not be read at the start; a new file has taken its place.\(old) "
                + "Stop tonearm and move it back if its queue is needed."
        }
    }
}
