import CLinux

/// An open file. It cannot be copied, and its `deinit` closes the file. Any thread may read at an offset.
public struct File: ~Copyable {
    /// Valid as long as this value exists.
    public let descriptor: Int32
    /// The path for messages, in the form of `FileName`.
    public let path: String

    /// Opens an existing file for reading.
    /// - Throws: ENOENT, EACCES…; EISDIR for a folder.
    public init(reading path: String) throws(SystemError) {
        // O_NONBLOCK: a named pipe among the music would otherwise block until another program writes to it.
        let opened = try Self.open(path, O_RDONLY | O_NONBLOCK)
        var mode: UInt32 = 0
        var length: Int64 = 0
        if tonearm_status(opened, &mode, &length) == 0, FileKind(mode: mode) == .folder {
            close(opened)
            throw SystemError(code: EISDIR, operation: "open", subject: path)
        }
        descriptor = opened
        self.path = path
    }

    /// Creates a new file for writing and reading.
    /// - Throws: EEXIST when the name exists, ENOENT without the folder, EACCES, ENOSPC…
    public init(creating path: String, mode: UInt32 = 0o644) throws(SystemError) {
        descriptor = try Self.open(path, O_RDWR | O_CREAT | O_EXCL, mode)
        self.path = path
    }

    /// Opens an existing file, or a device, for writing and reading in place.
    /// - Throws: ENOENT, EACCES…
    public init(updatingExisting path: String) throws(SystemError) {
        descriptor = try Self.open(path, O_RDWR)
        self.path = path
    }

    /// Opens a file for writing and reading in place, and creates a missing one.
    public init(updating path: String, mode: UInt32 = 0o644) throws(SystemError) {
        descriptor = try Self.open(path, O_RDWR | O_CREAT, mode)
        self.path = path
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: UInt32 = 0) throws(SystemError) -> Int32 {
        while true {
            let descriptor = FileName.withBytes(of: path) {
                tonearm_open($0, flags | O_CLOEXEC | O_NOCTTY, mode)
            }
            if descriptor >= 0 { return descriptor }
            if tonearm_errno() != EINTR { throw .last("open", path) }
        }
    }

    deinit { close(descriptor) }

    /// Returns the current length in bytes.
    public func length() throws(SystemError) -> Int64 {
        var mode: UInt32 = 0
        var length: Int64 = 0
        if tonearm_status(descriptor, &mode, &length) != 0 { throw .last("stat", path) }
        return length
    }

    /// Reads up to `buffer.count` bytes from `offset` on; fewer only at the end.
    /// - Returns: the bytes read; 0 at the end and beyond it.
    /// - Throws: EIO (for example when the stick was pulled out), ESPIPE for a file without offsets.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = tonearm_pread(
                descriptor, buffer.baseAddress! + done, buffer.count - done, offset + Int64(done))
            if count == 0 { break }
            if count > 0 { done += count } else if tonearm_errno() != EINTR { throw .last("read", path) }
        }
        return done
    }

    /// Writes all of `bytes` at `offset`.
    /// - Throws: ENOSPC, EDQUOT, EFBIG, EIO…; some of the bytes may have been written.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = tonearm_pwrite(
                descriptor, bytes.baseAddress! + done, bytes.count - done, offset + Int64(done))
            if count >= 0 { done += count } else if tonearm_errno() != EINTR { throw .last("write", path) }
        }
    }

    /// Cuts the file, or extends it with zeros.
    /// - Parameter length: the new length in bytes.
    public func truncate(to length: Int64) throws(SystemError) {
        if tonearm_truncate(descriptor, length) != 0 { throw .last("ftruncate", path) }
    }

    /// Returns the permissions of chmod(1) for the owner, the group and others: 0o600.
    public func permissions() throws(SystemError) -> UInt32 {
        var mode: UInt32 = 0
        var length: Int64 = 0
        if tonearm_status(descriptor, &mode, &length) != 0 { throw .last("stat", path) }
        return mode & 0o777
    }

    /// Sets the permissions of chmod(1).
    /// - Throws: EPERM for a file of another user, and on media without permissions.
    public func setPermissions(_ mode: UInt32) throws(SystemError) {
        if fchmod(descriptor, mode) != 0 { throw .last("chmod", path) }
    }

    /// Blocks until the written bytes are on the medium.
    public func synchronize() throws(SystemError) {
        if fsync(descriptor) != 0 { throw .last("fsync", path) }
    }
}

extension File {
    /// Returns the contents of a file.
    /// - Parameter limit: more bytes than this are an error, EFBIG.
    public static func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let file = try File(reading: path)
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 1)
        defer { chunk.deallocate() }
        // Reads until the end instead of the length: files of /proc and /sys report a length of 0.
        var bytes: [UInt8] = []
        while true {
            let count = try file.read(into: chunk, at: Int64(bytes.count))
            bytes.append(contentsOf: chunk[..<count])
            if bytes.count > limit { throw SystemError(code: EFBIG, operation: "read", subject: path) }
            if count < chunk.count { return bytes }
        }
    }
}
