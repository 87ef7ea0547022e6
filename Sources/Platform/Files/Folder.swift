import CLinux

/// What a name in the file system stands for, symbolic links followed.
public enum FileKind: Equatable, Sendable {
    case file
    case folder
    /// A device, a pipe, a socket.
    case other

    /// What is at `path`; nil when nothing is there, a link leads nowhere, or it cannot be reached.
    public init?(at path: String) {
        var mode: UInt32 = 0
        guard tonearm_mode_of_path(path, &mode) == 0 else { return nil }
        self.init(mode: mode)
    }

    /// The kind that `st_mode` of stat(2) tells.
    init(mode: UInt32) {
        self =
            switch Int32(mode) & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
    }
}

/// Folders of the file system. Any thread but the audio thread.
public enum Folder {
    /// Which folder it is, whatever name or link leads to it.
    public struct Identity: Equatable, Sendable {
        private var device: UInt64 = 0
        private var inode: UInt64 = 0

        /// nil when there is nothing at `path`.
        public init?(of path: String) {
            if tonearm_identity_of_path(path, &device, &inode) != 0 { return nil }
        }
    }

    public struct Entry: Equatable, Sendable {
        public var name: String
        /// nil for a link that leads nowhere.
        public var kind: FileKind?
        /// False where the name is not UTF-8: `name` is for messages then, and nothing can be opened by it.
        public var isUsable = true

        public init(name: String, kind: FileKind?, isUsable: Bool = true) {
            self.name = name
            self.kind = kind
            self.isUsable = isUsable
        }
    }

    /// The names in a folder without `.` and `..`, sorted by their bytes.
    public static func entries(of path: String) throws(SystemError) -> [Entry] {
        guard let directory = opendir(path) else { throw .last("open", path) }
        defer { closedir(directory) }
        var entries: [Entry] = []
        var type: Int32 = 0
        while let found = tonearm_next_name(directory, &type) {
            let valid = String(validatingCString: found)
            let name = valid ?? String(cString: found)
            if isDotOrDotDot(name) { continue }
            let kind: FileKind? =
                switch Int(type) {
                case Int(DT_REG): .file
                case Int(DT_DIR): .folder
                default: FileKind(at: "\(path)/\(name)")
                }
            entries.append(Entry(name: name, kind: kind, isUsable: valid != nil))
        }
        if tonearm_errno() != 0 { throw .last("read", path) }
        entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return entries
    }

    /// Whether there is a folder at `path`, with nothing in it.
    public static func isEmpty(_ path: String) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        var type: Int32 = 0
        while let found = tonearm_next_name(directory, &type) {
            if !isDotOrDotDot(String(cString: found)) { return false }
        }
        return tonearm_errno() == 0
    }

    private static func isDotOrDotDot(_ name: String) -> Bool {
        let bytes = name.utf8
        return bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    }

    /// Makes the folder and those above it where they are missing.
    /// - Parameter mode: of those that are made, less the process's umask.
    /// - Throws: ENOTDIR when a part of the path is a file, EEXIST when the whole of it is, EACCES, EROFS, ENOSPC…
    public static func create(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        if FileKind(at: path) == .folder { return }
        let bytes = Array(path.utf8)
        for end in bytes.indices.dropFirst() where bytes[end] == UInt8(ascii: "/") {
            let part = String(decoding: bytes[..<end], as: UTF8.self)
            if FileKind(at: part) == nil { try make(part, mode) }
        }
        if FileKind(at: path) != .folder { try make(path, mode) }
    }

    private static func make(_ path: String, _ mode: UInt32) throws(SystemError) {
        if mkdir(path, mode) == 0 { return }
        let error = SystemError.last("mkdir", path)
        // Somebody else may have made it in between.
        if error.code != EEXIST || FileKind(at: path) != .folder { throw error }
    }

    /// The folder that the last name of `path` is in: "." for a bare name.
    public static func containing(_ path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == bytes.startIndex ? "/." : String(path[..<slash])
    }

    /// Blocks until the name of the file at `file` is on the medium, or is gone from there: fsync of its folder.
    public static func synchronize(containing file: String) throws(SystemError) {
        let path = containing(file)
        let descriptor = tonearm_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .last("open", path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw .last("fsync", path) }
    }

    /// Gives a file another name in the same folder, in place of a file that has it. Durable when it returns.
    public static func renameFile(_ path: String, to newPath: String) throws(SystemError) {
        if rename(path, newPath) != 0 { throw .last("rename", path) }
        try synchronize(containing: newPath)
    }

    /// Removes a file's name. Nothing there is no error.
    public static func removeFile(_ path: String) throws(SystemError) {
        if unlink(path) != 0 {
            let error = SystemError.last("remove", path)
            if error.code != ENOENT { throw error }
        }
    }
}
