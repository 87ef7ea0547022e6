import CLinux
import Platform

/// The values that show whether a file has changed.
package struct FileStamp: Equatable, Sendable {
    /// The size in bytes.
    package var size: Int64
    /// The time of the last change, in nanoseconds since 1970.
    package var modified: Int64
    /// A value that changes with the inode and the status of the file, because programs that write tags may preserve
    /// the size and the time. 0 if the file system does not preserve both from one mount to the next.
    package var state: Int64

    package init(size: Int64, modified: Int64, state: Int64 = 0) {
        self.size = size
        self.modified = modified
        self.state = state
    }

    /// Returns nil when there is no regular file, or it cannot be read.
    package init?(of path: String) {
        guard let stamp = try? FileStamp(reading: path) else { return nil }
        self = stamp
    }

    /// Returns nil when the path is not a regular file.
    package init?(reading path: String) throws(SystemError) {
        var (size, modified, state): (Int64, Int64, Int64) = (0, 0, 0)
        if FileName.withBytes(of: path, { tonearm_stamp_of_path($0, &size, &modified, &state) }) != 0 {
            if tonearm_errno() == EINVAL { return nil }
            throw .last("stat", path)
        }
        self.init(size: size, modified: modified, state: state)
    }

    package var text: String {
        String(UInt64(bitPattern: modified), radix: 16) + "-" + String(UInt64(bitPattern: size), radix: 16)
    }

    package var modifiedSeconds: Int64 { modified / 1_000_000_000 }
}

extension SystemError {
    /// Whether the error means that no file has this name. After any other error the file may exist.
    package var meansNoFile: Bool { [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(code) }

    /// Whether a file exists but cannot be read now. A file that is too large counts as read and refused.
    var hidesContent: Bool { !meansNoFile && code != EFBIG }
}
