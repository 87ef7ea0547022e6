/// Where one file system is mounted in another: where the device of a folder differs from that of the folder above it.
/// Any thread but the audio thread.
public enum MountPoint {
    /// The mount point that `path` is on.
    /// - Parameter path: of a folder, absolute.
    /// - Returns: nil on the root file system, and where there is no such folder.
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

    /// Whether something is mounted there now.
    public static func isMounted(_ path: String) -> Bool {
        guard let above = above(path), let identity = Folder.Identity(of: path), let upper = Folder.Identity(of: above)
        else { return false }
        return !upper.isOnSameDevice(as: identity)
    }

    /// The folder above, by the names in the path: a link to a mount point is one as well. nil for the root, and for a
    /// path that is not absolute.
    private static func above(_ path: String) -> String? {
        var bytes = Array(path.utf8)
        while bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard bytes.first == UInt8(ascii: "/"), let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }
}
