import CLinux

/// The kind of a file, with symbolic links resolved.
public enum FileKind: Equatable, Sendable {
    case file
    case folder
    /// A device, a pipe, a socket.
    case other

    /// Returns the kind of the file at `path`; nil when it is missing, cannot be reached, or is a broken link.
    public init?(at path: String) {
        var mode: UInt32 = 0
        guard FileName.withBytes(of: path, { tonearm_mode_of_path($0, &mode) }) == 0 else { return nil }
        self.init(mode: mode)
    }

    /// Returns the kind in `st_mode` of stat(2).
    init(mode: UInt32) {
        self =
            switch Int32(mode) & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
    }
}

/// Folders of the file system. Any thread except the audio thread.
public enum Folder {
    /// Identifies a folder, independent of its names and links.
    public struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        /// Returns nil when there is nothing at `path`.
        public init?(of path: String) {
            var (device, inode) = (UInt64(0), UInt64(0))
            guard FileName.withBytes(of: path, { tonearm_identity_of_path($0, &device, &inode) }) == 0
            else { return nil }
            (self.device, self.inode) = (device, inode)
        }

        /// Returns whether both are on one file system.
        public func isOnSameDevice(as other: Identity) -> Bool { device == other.device }
    }

    public struct Entry: Equatable, Sendable {
        /// The name in the form of `FileName`.
        public var name: String
        /// nil for a broken link.
        public var kind: FileKind?
        /// Whether it is a link, or may be one: not every file system has the types of its entries.
        public var mayBeLink: Bool

        public init(name: String, kind: FileKind?, mayBeLink: Bool = false) {
            self.name = name
            self.kind = kind
            self.mayBeLink = mayBeLink
        }
    }

    /// The decision about an entry while a folder is read.
    public enum Choice: Sendable {
        case keep, skip
        /// Read no further.
        case stop
    }

    /// Returns the entries of a folder without `.` and `..`, sorted by the bytes of their names.
    /// - Parameter choose: decides for each entry whether it is included.
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
            let mayBeLink = type == Int32(DT_LNK) || type == Int32(DT_UNKNOWN)
            let entry = Entry(name: name, kind: kind, mayBeLink: mayBeLink)
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

    /// Returns the time of the last change of a folder or file, in seconds since 1970; nil when it cannot be reached.
    public static func modified(_ path: String) -> Int64? {
        var seconds: Int64 = 0
        return FileName.withBytes(of: path, { tonearm_time_of_path($0, &seconds) }) == 0 ? seconds : nil
    }

    /// Returns how many bytes can still be written to the file system of `path`.
    public static func freeBytes(at path: String) throws(SystemError) -> Int64 {
        let bytes = FileName.withBytes(of: path) { tonearm_free_bytes($0) }
        if bytes < 0 { throw .last("statvfs", path) }
        return bytes
    }

    /// Returns the size of the file system of `path`, in bytes.
    public static func allBytes(at path: String) throws(SystemError) -> Int64 {
        let bytes = FileName.withBytes(of: path) { tonearm_all_bytes($0) }
        if bytes < 0 { throw .last("statvfs", path) }
        return bytes
    }

    /// Returns whether there is an empty folder at `path`.
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

    /// Returns whether a folder belongs to the kernel: /proc, /sys, /dev and the mounts below them. They contain no
    /// music, reading some of their files changes the machine, and their links have cycles.
    public static func belongsToKernel(_ path: String) -> Bool {
        FileName.withBytes(of: path) { tonearm_is_kernel_folder($0) } != 0
    }

    /// Returns the path without links and dots.
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

    /// Creates the folder and its missing parents.
    /// - Parameter mode: the mode of created folders, minus the process's umask.
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
        // Another process may have created it meanwhile.
        if error.code != EEXIST || FileKind(at: path) != .folder { throw error }
    }

    /// Returns the folder that contains the last name of `path`: "." for a bare name.
    public static func containing(_ path: String) -> String {
        let bytes = path.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == bytes.startIndex ? "/." : String(path[..<slash])
    }

    /// Blocks until the creation or removal of the file's name is on the medium, by an fsync of its folder.
    public static func synchronize(containing file: String) throws(SystemError) {
        let path = containing(file)
        let descriptor = FileName.withBytes(of: path) {
            tonearm_open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        }
        guard descriptor >= 0 else { throw .last("open", path) }
        defer { close(descriptor) }
        if fsync(descriptor) != 0 { throw .last("fsync", path) }
    }

    /// Renames a file in its folder, and replaces a file with the new name. Durable when it returns.
    public static func renameFile(_ path: String, to newPath: String) throws(SystemError) {
        if !rename(path, to: newPath) { throw .last("rename", path) }
        try synchronize(containing: newPath)
    }

    /// Renames a file with rename(2).
    /// - Returns: false when errno is set.
    static func rename(_ path: String, to newPath: String) -> Bool {
        FileName.withBytes(of: path) { old in
            FileName.withBytes(of: newPath) { new in CLinux.rename(old, new) }
        } == 0
    }

    /// Removes a file. A missing file is not an error.
    public static func removeFile(_ path: String) throws(SystemError) {
        if FileName.withBytes(of: path, { unlink($0) }) != 0 {
            let error = SystemError.last("remove", path)
            if error.code != ENOENT { throw error }
        }
    }
}
