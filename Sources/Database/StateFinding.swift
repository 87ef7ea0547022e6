/// A finding in the state, at its opening or later, that the user should know.
public struct StateFinding: Equatable, Sendable, CustomStringConvertible {
    public enum Kind: Equatable, Sendable {
        /// The damage, and the number of rows that could be copied into a new file.
        case damaged(String, rows: Int)
        /// Damage that was found in a copy. The file itself could not be written and is unchanged.
        case damagedButReadable(String, rows: Int)
        /// The file could not be read at the start. When it became readable it had contents, which are not used.
        case foundLate
    }

    public var kind: Kind
    /// The database file.
    public var path: String
    /// The new path of the damaged file.
    public var aside: String?

    public init(kind: Kind, path: String, aside: String? = nil) {
        self.kind = kind
        self.path = path
        self.aside = aside
    }

    /// Returns the finding for the file in `folder`, when it was made in a copy. The user does not know the copy, which
    /// is removed.
    func ofCopy(of folder: String) -> StateFinding {
        var finding = StateFinding(kind: kind, path: "\(folder)/\(DatabaseFiles(path).name)")
        if case .damaged(let what, let rows) = kind { finding.kind = .damagedButReadable(what, rows: rows) }
        return finding
    }

    /// One line: the problem, the repair, and the next step for the user.
    public var description: String {
        let old = aside.map { " The old file is \($0)." } ?? ""
        switch kind {
        case .damaged(let what, let rows):
            return "\(path) was damaged (\(what)). \(rows) rows were carried over into a new file.\(old) "
                + "Check the queue and the settings; a medium that fails again should be replaced."
        case .damagedButReadable(let what, let rows):
            return "\(path) is damaged (\(what)) and cannot be written now. \(rows) rows were read from it. "
                + "Check the queue and the settings; a medium that fails again should be replaced."
        case .foundLate:
            return "\(path) could not be read at the start; a new file has taken its place.\(old) "
                + "Stop tonearm and move it back if its queue or its offline copies are needed."
        }
    }
}
