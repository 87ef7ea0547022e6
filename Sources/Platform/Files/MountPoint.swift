/// Finds where one file system is mounted in another: where the device of a folder differs from that of its parent
/// folder. Any thread except the audio thread.
public enum MountPoint {
    /// Returns the mount point of the file system that contains `path`.
    /// - Parameter path: the absolute path of a folder.
    /// - Returns: nil on the root file system, and for a missing folder.
    public static func containing(_ path: String) -> String? {
        var folder = path
        guard let identity = Folder.Identity(of: folder) else { return nil }
        while let above = Self.above(folder) {
            guard let upper = Folder.Identity(of: above) else { return nil }
            if !upper.isOnSameDevice(as: identity) { return folder }
            folder = above
        }
        return nil
    }

    /// Returns whether a file system is mounted at `path` now.
    public static func isMounted(_ path: String) -> Bool {
        guard let above = above(path), let identity = Folder.Identity(of: path), let upper = Folder.Identity(of: above)
        else { return false }
        return !upper.isOnSameDevice(as: identity)
    }

    /// Returns the parent folder by the names in the path, so that a link to a mount point is one as well; nil for the
    /// root, and for a path that is not absolute.
    private static func above(_ path: String) -> String? {
        var bytes = Array(path.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard bytes.first == UInt8(ascii: "/"), let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }
}
