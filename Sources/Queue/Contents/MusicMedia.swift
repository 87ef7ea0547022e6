import Platform

/// The mount points of the queue's music, from the time when it was added. A mount point without a mounted file system
/// is a missing medium, even if its folder has other files (docs/decisions/missing-medium.md).
package struct MusicMedia: Equatable, Sendable {
    /// The limit, which is more than anyone mounts. The oldest is removed first.
    static let limit = 32

    private(set) var mountPoints: [String] = []

    init() {}

    init(_ mountPoints: [String]) { add(mountPoints) }

    mutating func add(_ more: [String]) {
        for point in more where !mountPoints.contains(where: { $0.utf8.elementsEqual(point.utf8) }) {
            mountPoints.append(point)
        }
        if mountPoints.count > Self.limit { mountPoints.removeFirst(mountPoints.count - Self.limit) }
    }

    /// Whether the file lies on a medium that is not mounted.
    func isMissing(for file: String, isMounted: (String) -> Bool = MountPoint.isMounted) -> Bool {
        mountPoints.contains { Self.isInside(file, $0) && !isMounted($0) }
    }

    private static func isInside(_ file: String, _ folder: String) -> Bool {
        let (file, folder) = (file.utf8, folder.utf8)
        return file.count > folder.count && file.starts(with: folder)
            && file[file.index(file.startIndex, offsetBy: folder.count)] == UInt8(ascii: "/")
    }
}
