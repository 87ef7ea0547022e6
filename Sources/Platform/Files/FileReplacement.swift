import CLinux

/// The new contents of a file, which replace the old ones atomically: a reader of the path finds either the complete
/// old file or the complete new one, even after a power cut. Without `commit` the old file stays.
///
/// Any thread except the audio thread; blocks on the medium.
public struct FileReplacement: ~Copyable {
    private let file: File
    private let target: String
    private var length: Int64 = 0
    private var isCommitted = false

    private static let prefix = ".tonearm-"
    private static let suffix = ".new"

    /// Begins to replace the file at `path`, which may be missing; its folder must exist. A symbolic link itself is
    /// replaced, and not its target.
    /// - Parameter mode: the mode of the new file; the mode of the old file is ignored.
    public init(of path: String, mode: UInt32 = 0o644) throws(SystemError) {
        let number = hexadecimal(SystemRandomSource().bytes(8))
        // Created in the same folder, because rename(2) cannot cross file systems.
        file = try File(creating: "\(Folder.containing(path))/\(Self.prefix)\(number)\(Self.suffix)", mode: mode)
        target = path
    }

    deinit {
        if !isCommitted { _ = FileName.withBytes(of: file.path) { unlink($0) } }
    }

    /// The temporary path of the new contents, until `commit`.
    public var path: String { file.path }

    /// Adds to the new contents.
    /// - Throws: ENOSPC, EIO…; the replacement must then not be committed.
    public mutating func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try file.write(bytes, at: length)
        length += Int64(bytes.count)
    }

    /// Replaces the file. When this returns, the new contents are on the medium.
    /// - Throws: when the replacement failed. The old file is still there, unless the last step failed (operation
    ///   `fsync`, subject the folder). In that case the new one is there, but may be lost after a power cut.
    public consuming func commit() throws(SystemError) {
        // A crash here: the old file is in place, the new one has its temporary name; `removeLeftovers` finds it.
        try file.synchronize()
        // A crash here has the same result as above. Without the fsync, the rename could reach the medium before the
        // bytes and leave an empty file.
        if !Folder.rename(file.path, to: target) { throw .last("rename", target) }
        isCommitted = true
        // A crash here: the folder on the medium has either the old file or the new one; both are complete.
        try Folder.synchronize(containing: target)
        // A crash here: the new file is there.
    }

    /// Replaces the file without a sync, for files that are made again when they are lost. A power cut may leave the
    /// new name with fewer bytes, or none.
    public consuming func commitWithoutSync() throws(SystemError) {
        if !Folder.rename(file.path, to: target) { throw .last("rename", target) }
        isCommitted = true
    }

    /// Replaces the file at `path` by `bytes`, durably.
    public static func write(_ bytes: [UInt8], to path: String, mode: UInt32 = 0o644) throws(SystemError) {
        var replacement = try FileReplacement(of: path, mode: mode)
        let outcome = bytes.withUnsafeBytes { all in
            do throws(SystemError) {
                try replacement.append(all)
                return nil as SystemError?
            } catch {
                return error
            }
        }
        if let outcome { throw outcome }
        try replacement.commit()
    }

    /// Gives the file at `old` the name `new` unless there is one with that name. Returns errno, or 0.
    typealias Naming = (_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32

    /// link(2). The old name stays.
    static func linked(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        link(old, new) == 0 ? 0 : tonearm_errno()
    }

    /// renameat2(2) with RENAME_NOREPLACE, for a file system without hard links, such as FAT.
    static func renamed(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        tonearm_rename_new(old, new) == 0 ? 0 : tonearm_errno()
    }

    /// Creates the file at `path` with `bytes`, durably, unless there is one.
    /// - Returns: false when there is one; it stays unchanged.
    /// - Throws: ENOSPC, EACCES…; EOPNOTSUPP when the file system can neither link nor rename without replacing.
    public static func create(_ bytes: [UInt8], at path: String, mode: UInt32 = 0o644) throws(SystemError) -> Bool {
        try create(bytes, at: path, mode: mode, namings: [("link", linked), ("rename", renamed)])
    }

    /// - Parameter namings: the ways to give the complete file its name, tried in order while the file system does not
    ///   support them.
    static func create(
        _ bytes: [UInt8], at path: String, mode: UInt32, namings: [(operation: String, run: Naming)]
    ) throws(SystemError) -> Bool {
        let number = hexadecimal(SystemRandomSource().bytes(8))
        let temporary = "\(Folder.containing(path))/\(prefix)\(number)\(suffix)"
        do throws(SystemError) {
            try write(bytes, toNew: temporary, mode)
        } catch {
            // Removes the file even if nothing was written. Only the first error is reported.
            try? Folder.removeFile(temporary)
            throw error
        }
        // A plain rename(2) would replace a file that another process has created meanwhile.
        // A crash here: only the temporary name exists, and `removeLeftovers` finds it.
        var error = SystemError(code: ENOSYS, operation: "link", subject: path)
        for naming in namings {
            let code = FileName.withBytes(of: temporary) { old in
                FileName.withBytes(of: path) { naming.run(old, $0) }
            }
            error = SystemError(code: code, operation: naming.operation, subject: path)
            if !error.isUnsupportedNaming { break }
        }
        // After a rename the temporary name is gone already.
        try Folder.removeFile(temporary)
        if error.isUnsupportedNaming { error.code = EOPNOTSUPP }
        if error.code != 0 {
            guard error.code == EEXIST else { throw error }
            return false
        }
        try Folder.synchronize(containing: path)
        return true
    }

    private static func write(_ bytes: [UInt8], toNew path: String, _ mode: UInt32) throws(SystemError) {
        let file = try File(creating: path, mode: mode)
        let outcome = bytes.withUnsafeBytes { all in
            do throws(SystemError) {
                try file.write(all, at: 0)
                return nil as SystemError?
            } catch {
                return error
            }
        }
        if let outcome { throw outcome }
        try file.synchronize()
    }

    /// Removes the files that interrupted replacements have left in a folder. Call it at the start, before any file
    /// there is replaced.
    /// - Returns: how many files were removed.
    @discardableResult
    public static func removeLeftovers(in folder: String) throws(SystemError) -> Int {
        var count = 0
        for entry in try Folder.entries(of: folder) where entry.kind == .file && isTemporary(entry.name) {
            try Folder.removeFile("\(folder)/\(entry.name)")
            count += 1
        }
        return count
    }

    private static func isTemporary(_ name: String) -> Bool {
        let bytes = name.utf8
        return bytes.count == prefix.utf8.count + 16 + suffix.utf8.count
            && bytes.starts(with: prefix.utf8) && bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
    }
}

extension SystemError {
    /// Whether the file system does not have this way to name a file: FAT answers link(2) with EPERM, and some file
    /// systems answer renameat2(2) with EINVAL.
    fileprivate var isUnsupportedNaming: Bool {
        [EPERM, EOPNOTSUPP, ENOSYS, EMLINK, EINVAL].contains(code)
    }
}
