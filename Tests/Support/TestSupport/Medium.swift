import Foundation

/// A medium for tests that need one that is full or read-only. Needs root, in a mount namespace or a container.
public final class Medium {
    public let path: String

    /// Whether this process may mount.
    public static let isAvailable: Bool = {
        guard geteuid() == 0, let folder = try? ScratchFolder() else { return false }
        guard mount("none", folder.path, "tmpfs", 0, "size=4k") == 0 else { return false }
        umount2(folder.path, Int32(MNT_DETACH))
        return true
    }()

    /// Mounts an empty medium at a folder.
    public init(at path: String, kilobytes: Int) throws {
        self.path = path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("none", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { throw POSIXError(.EPERM) }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    public func setReadOnly(_ isReadOnly: Bool) throws {
        let deadline = Deadline()
        while mount("none", path, nil, UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0), nil) != 0 {
            // A process that another test starts at this moment has all files open until its exec.
            guard errno == EBUSY, !deadline.hasPassed else { throw POSIXError(.EBUSY) }
            Deadline.pause()
        }
    }

    /// Takes all the space that is left.
    public func fill() {
        let file = open("\(path)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        var block = [UInt8](repeating: 1, count: 4096)
        while write(file, &block, block.count) > 0 {}
        close(file)
    }

    public func empty() { unlink("\(path)/filler") }
}
