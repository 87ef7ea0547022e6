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
        guard FileName.withBytes(of: path, { tonearm_mode_of_path($0, &mode) }) == 0 else { return nil }
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
    public struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        /// nil when there is nothing at `path`.
        public init?(of path: String) {
            var (device, inode) = (UInt64(0), UInt64(0))
            guard FileName.withBytes(of: path, { tonearm_identity_of_path($0, &device, &inode) }) == 0
            else { return nil }
            (self.device, self.inode) = (device, inode)
        }

        /// Whether both are on one file system.
        public func isOnSameDevice(as other: Identity) -> Bool { device == other.device }
    }

    public struct Entry: Equatable, Sendable {
        /// As `FileName` writes it.
        public var name: String
        /// nil for a link that leads nowhere.
        public var kind: FileKind?

        public init(name: String, kind: FileKind?) {
            self.name = name
            self.kind = kind
        }
    }

    /// What to do with an entry while a folder is read.
    public enum Choice: Sendable {
        case keep, skip
        /// Read no further.
        case stop
    }

    /// The names in a folder without `.` and `..`, sorted by their bytes.
    /// - Parameter choose: says for each entry whether it is kept.
    public static func entries(
        of path: String, _ choose: (Entry) -> Choice = { _ in .keep }
    ) throws(SystemError) -> [Entry] {
        guard let directory = FileName.withBytes(of: path, { opendir($0) }) else { throw .last("open", path) }
        defer { closedir(directory) }
        var entries: [Entry] = []
        var type: Int32 = 0
        reading: while let found = tonearm_next_name(directory, &type) {
            let name = FileName.text(of: found)
            if isDotOrDotDot(name) { continue }
            let kind: FileKind? =
                switch Int(type) {
                case Int(DT_REG): .file
                case Int(DT_DIR): .folder
                default: FileKind(at: "\(path)/\(name)")
                }
            let entry = Entry(name: name, kind: kind)
            switch choose(entry) {
            case .keep: entries.append(entry)
            case .skip: break
            case .stop:
                tonearm_clear_errno()
                break reading
            }
        }
        if tonearm_errno() != 0 { throw .last("read", path) }
        entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return entries
    }

    /// Whether there is a folder at `path`, with nothing in it.
    public static func isEmpty(_ path: String) -> Bool {
        var isEmpty = true
        do throws(SystemError) {
            _ = try entries(of: path) { _ in
                isEmpty = false
                return .stop
            }
        } catch {
            return false
        }
        return isEmpty
    }

    /// Whether a folder belongs to the kernel: /proc, /sys, /dev and what is mounted below them. Nothing in there is
    /// music, to read some of it changes the machine, and there is no end to its links.
    public static func belongsToKernel(_ path: String) -> Bool {
        FileName.withBytes(of: path) { tonearm_is_kernel_folder($0) } != 0
    }

    /// Where a path leads, without links and dots.
    /// - Throws: ENOENT, EACCES, ELOOP…
    public static func resolved(_ path: String) throws(SystemError) -> String {
        guard let resolved = FileName.withBytes(of: path, { realpath($0, nil) }) else { throw .last("open", path) }
        defer { free(resolved) }
        return FileName.text(of: resolved)
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
        if FileName.withBytes(of: path, { mkdir($0, mode) }) == 0 { return }
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
        let descriptor = FileName.withBytes(of: path) {
            tonearm_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard descriptor >= 0 else { throw .last("open", path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw .last("fsync", path) }
    }

    /// Gives a file another name in the same folder, in place of a file that has it. Durable when it returns.
    public static func renameFile(_ path: String, to newPath: String) throws(SystemError) {
        if !rename(path, to: newPath) { throw .last("rename", path) }
        try synchronize(containing: newPath)
    }

    /// rename(2).
    /// - Returns: false with errno.
    static func rename(_ path: String, to newPath: String) -> Bool {
        FileName.withBytes(of: path) { old in
            FileName.withBytes(of: newPath) { new in CLinux.rename(old, new) }
        } == 0
    }

    /// Removes a file's name. Nothing there is no error.
    public static func removeFile(_ path: String) throws(SystemError) {
        if FileName.withBytes(of: path, { unlink($0) }) != 0 {
            let error = SystemError.last("remove", path)
            if error.code != ENOENT { throw error }
        }
    }
}
